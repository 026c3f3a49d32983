// Twin: a TAP interface that stands for a port in the kernel, with the port's MAC.
// What: frames for the kernel go in, frames of the kernel come out and leave by the port; addresses, routes, ARP,
//       ND, ping and BGP of the host live on it.
// Why:  the kernel does not see a NIC that DPDK owns.
// Cost: a system call a frame; bounded per burst, so that a flood for the host cannot hold up forwarding.
// Thread: control opens and closes; the workers own its queues as those of a port.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "io/port.h"

struct rte_mempool;
struct rte_mbuf;

namespace guideway {

// Frames of one burst that may cross to the kernel; the rest counts as drop_kernel_full.
inline constexpr std::uint16_t kernel_burst_max = 32;

// A port has one when it is a PCI device that names its kernel interface, or asks for it.
[[nodiscard]] bool wants_twin(const PortConfig& config, const Device& device);

class Twin {
 public:
  [[nodiscard]] static Result<Twin> open(std::size_t index, const Port& port, std::size_t workers);
  Twin(Twin&&) noexcept;
  Twin& operator=(Twin&&) = delete;
  ~Twin();

  [[nodiscard]] const std::vector<QueuePair>& queues() const { return queues_; }
  [[nodiscard]] const std::string& interface() const { return interface_; }

 private:
  struct PoolDeleter {
    void operator()(rte_mempool* pool) const;
  };
  Twin() = default;
  Result<void> configure(const Port& port, std::uint16_t queue_count);

  std::string interface_;
  std::unique_ptr<rte_mempool, PoolDeleter> pool_;
  std::vector<std::uint16_t> devices_;  // one, once attached
  std::vector<QueuePair> queues_;
};

// On a port with a VLAN the kernel's side is that VLAN, untagged. worker.
void to_twin(rte_mbuf** frames, std::uint16_t count, std::uint16_t vlan);
// Puts the tag on, and answers with how many frames could take it (they stand first; the others are freed). worker.
[[nodiscard]] std::uint16_t from_twin(rte_mbuf** frames, std::uint16_t count, std::uint16_t vlan);

}  // namespace guideway
