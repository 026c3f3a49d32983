// Port: one port of the director, opened on its DPDK device or devices.
// What: attaches the device, sets queues, RSS, offloads and MTU, and shares the queues out over the workers.
// Why:  the rest of the program sees queues and a PortView; drivers, pools and limits end here.
// Thread: control, except where said. A port that cannot be opened as asked is refused in one sentence and
// leaves
//       nothing behind.
// Not:  the link of an interface that the kernel owns (control/neighbours), the kernel's twin (twin.h), what is done
//       with a packet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "io/interface_loan.h"
#include "io/steering.h"
#include "io/virtual_device.h"
#include "snapshot/port_table.h"
#include "state/director_config.h"

struct rte_mempool;

namespace guideway {

// A receive and a transmit queue of the same number on one DPDK port.
struct QueuePair {
  std::uint16_t dpdk_port = 0;
  std::uint16_t queue = 0;
  friend bool operator==(const QueuePair&, const QueuePair&) = default;
};

struct PortRequest {
  std::size_t index = 0;
  PortConfig config;
  std::vector<unsigned> workers;   // their lcores
  std::uint32_t tx_rings_all = 0;  // descriptors of every port's transmit queues, which can hold our mbufs
};

// What the device counted since it was opened.
struct PortTraffic {
  std::uint64_t rx_packets = 0, tx_packets = 0, rx_missed = 0, rx_errors = 0, tx_errors = 0;
};

class Port {
 public:
  [[nodiscard]] static Result<Port> open(const PortRequest& request, PortView& view);
  Port(Port&&) noexcept;
  Port& operator=(Port&&) = delete;
  ~Port();  // stops and detaches; the workers no longer use it

  [[nodiscard]] const PortConfig& config() const { return config_; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] const std::vector<QueuePair>& queues() const { return queues_; }
  [[nodiscard]] MacAddress mac() const;
  [[nodiscard]] rte_mempool* pool() const { return pool_.get(); }
  [[nodiscard]] int socket() const { return socket_; }
  // The interface in the kernel whose addresses and routes count for this port; empty where there is none.
  [[nodiscard]] std::string kernel_interface() const;
  // The kernel's interface that frames leave by, whose link is the port's; empty where the device itself knows.
  [[nodiscard]] std::string device_interface() const;
  [[nodiscard]] bool read_device_link() const;
  [[nodiscard]] const std::string& driver() const { return driver_; }
  [[nodiscard]] PortTraffic traffic() const;
  // Null: the device decides itself which frames come in.
  [[nodiscard]] const Steering* steering() const { return steering_ ? &*steering_ : nullptr; }
  [[nodiscard]] Steering* steering() { return steering_ ? &*steering_ : nullptr; }

 private:
  struct PoolDeleter {
    void operator()(rte_mempool* pool) const;
  };

  Port() = default;
  Result<std::uint16_t> choose_queue_count(const PortRequest& request) const;
  Result<std::uint16_t> choose_xdp_queue_count(std::uint16_t workers) const;
  Result<void> attach(const PortRequest& request, std::uint16_t queue_count);
  Result<void> make_pool(const PortRequest& request, std::uint16_t queue_count);
  Result<void> configure(std::uint16_t dpdk_port, std::uint16_t queue_count);
  Result<void> set_up_queues(std::uint16_t dpdk_port, std::uint16_t queue_count);
  Result<void> start_steering();
  void fill(PortView& view) const;
  [[nodiscard]] tl::unexpected<Error> refuse(std::string what, std::string next = {}) const;
  [[nodiscard]] tl::unexpected<Error> refuse(const Error& cause) const {
    return refuse(cause.what, cause.next);
  }

  PortConfig config_;
  Device device_;
  std::string driver_;
  int socket_ = 0;
  bool rx_ip_checksum_ = false;
  std::unique_ptr<rte_mempool, PoolDeleter> pool_;  // freed after the devices are closed
  std::unique_ptr<InterfaceLoan> loan_;             // of an interface that the kernel shares; likewise
  std::vector<std::uint16_t> devices_;              // DPDK ports, in the order of their queues
  std::vector<QueuePair> queues_;
  std::optional<Steering> steering_;
};

}  // namespace guideway
