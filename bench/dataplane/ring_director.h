// Ring director: the daemon's workers between two ports that are ring devices, and what stands at the rings' far ends.
// What: everything is driven by whoever measures: a worker's round is a call.
// Thread: each worker and its wire belong to one thread, which DPDK knows.
#pragma once

#include <rte_ring.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/dataplane/testbed.h"
#include "io/ports.h"
#include "io/publisher.h"
#include "io/worker.h"

namespace guideway::bench {

// Ends the process with one sentence.
[[noreturn]] void give_up(const std::string& why);

// Ports 0 ("bin") and 1 ("bout"), with a queue for each worker.
[[nodiscard]] std::unique_ptr<Ports> open_ring_ports(std::size_t workers);

// What stands between the ports, with a snapshot that is published.
class RingDirector {
 public:
  RingDirector(const Settings& settings, const Ports& ports, std::size_t workers);
  ~RingDirector();
  RingDirector(const RingDirector&) = delete;
  RingDirector& operator=(const RingDirector&) = delete;

  void round(std::size_t worker) {
    workers_[worker]->poll();
    publisher_.quiescent(static_cast<unsigned>(worker));
  }
  [[nodiscard]] bool all_forwarded() const;

 private:
  QsbrPublisher publisher_;
  Clock clock_;
  NextHops next_hops_;
  std::vector<std::unique_ptr<WorkerCounters>> counters_;  // by worker, like what follows
  std::vector<std::unique_ptr<FlowState>> flows_;
  std::vector<std::vector<const FlowState*>> peers_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// The far ends of a worker's rings: a driver's NIC.
class Wire {
 public:
  Wire(const TrafficRules& rules, rte_mempool* mbufs, std::size_t worker = 0);

  template <class Round>
  void pass(Flags flags, const Round& round) {
    traffic_.receive(burst_, flags);
    exchange(round);
  }
  template <class Round>
  void pass_in_order(Flags flags, std::uint32_t first, const Round& round) {
    traffic_.receive_in_order(burst_, flags, first);
    exchange(round);
  }

 private:
  template <class Round>
  void exchange(const Round& round) {
    rte_ring_enqueue_bulk(to_worker_, reinterpret_cast<void**>(burst_.packets.data()), burst_max, nullptr);
    round();
    if (rte_ring_dequeue_bulk(from_worker_, reinterpret_cast<void**>(burst_.packets.data()), burst_max,
                              nullptr) != burst_max)
      give_up("a packet got lost between the ports");
  }
  Traffic traffic_;
  rte_ring *to_worker_, *from_worker_;
  Burst burst_;
};

}  // namespace guideway::bench
