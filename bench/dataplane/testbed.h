// Testbed: a director's data plane on one thread, without ports: what a worker has, and what it runs per burst.
// Thread: one.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/dataplane/traffic.h"
#include "dataplane/pipeline.h"
#include "snapshot/counters.h"

namespace guideway::bench {

struct Settings {
  TrafficRules traffic;
  Encapsulation encapsulation = Encapsulation::gue;
  Family outer = Family::ipv4;
  bool flow_table = false;
  std::size_t table_flows = 64;  // room of the flow table
  std::uint32_t backends = 100;
};

// The site that the settings describe, as the workers see it; its backends are all reached by port 0's MAC.
[[nodiscard]] std::shared_ptr<const Snapshot> make_snapshot(const Settings& settings, NextHops& next_hops,
                                                            std::uint8_t egress);

class Testbed {
 public:
  Testbed(const Settings& settings, rte_mempool* mbufs);

  // As a worker does with a burst that it received: every stage, the counting of what left, the fragments' turn.
  void run(std::uint32_t now_ms) {
    pipeline_.run(burst_, *snapshot_, now_ms, *outputs_);
    Outbox& box = outputs_->port[0];
    pipeline_.sent(box, box.size, Verdict::drop_tx_full);  // the port takes all of it
    Pipeline::done(*outputs_);
    static_cast<void>(
        pipeline_.readmit(burst_, now_ms));  // asked for as a worker does; nothing is ever held here
    constexpr std::uint32_t runs_between_sweeps = 64;  // as a worker under load
    if (++runs_ % runs_between_sweeps == 0) pipeline_.idle(now_ms);
  }

  [[nodiscard]] Traffic& traffic() { return traffic_; }
  [[nodiscard]] Burst& burst() { return burst_; }
  [[nodiscard]] FlowState& flows() { return flows_; }
  [[nodiscard]] const VerdictCounters& counted() const { return counters_.verdicts; }
  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] PipelineParts parts() { return {ports_, next_hops_, counters_, flows_, mbufs_, {}}; }
  [[nodiscard]] Outputs& outputs() { return *outputs_; }

 private:
  rte_mempool* mbufs_;
  Traffic traffic_;
  PortTable ports_;
  NextHops next_hops_;
  WorkerCounters counters_;
  FlowState flows_;
  std::shared_ptr<const Snapshot> snapshot_;
  Burst burst_;
  std::unique_ptr<Outputs> outputs_ = std::make_unique<Outputs>();
  Pipeline pipeline_;
  std::uint32_t runs_ = 0;
};

}  // namespace guideway::bench
