// Steering: which frames of an af_xdp port's interface come to us; the kernel keeps the rest.
// What: the list of service addresses that our XDP program (src/bpf/steer.bpf.c) looks up, its setting for ARP and
//       ND, and its counters, found by way of the interface.
// Why:  a program that takes every frame would cut the host off: SSH, ARP, health checks, routing.
// Cost: a change writes the entries that are new; nothing is asked of a worker.
// Thread: control.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway {

struct Site;

// Frames since the port was opened.
struct Steered {
  std::uint64_t to_socket = 0, to_kernel = 0;
  std::uint64_t no_socket = 0;        // for a service address, on a queue that no socket is bound to: lost
  std::size_t services_left_out = 0;  // of the site, whose packets stay with the kernel
};

class Steering {
 public:
  // Of the program that DPDK's driver has put on the interface. `neighbours`: ARP requests and neighbour solicitations
  // for service addresses come to us as well.
  [[nodiscard]] static Result<Steering> find(const std::string& interface, bool neighbours);

  // Before the workers know a version of the site: what is new in it comes to us. 0, or the errno.
  [[nodiscard]] int add_services(const Site& site);
  // After they know it: the kernel has back what is in it no more, and what had no room may have some now.
  void drop_others(const Site& site);

  [[nodiscard]] Steered counts() const;

 private:
  Steering(Fd services, Fd steered) : services_(std::move(services)), steered_(std::move(steered)) {}
  void count_left_out(const Site& site);
  Fd services_, steered_;
  std::size_t left_out_ = 0;
};

}  // namespace guideway
