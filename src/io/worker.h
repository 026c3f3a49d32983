// Worker: one poll loop on one lcore.
// What: takes bursts from its own queues, runs them through the pipeline with the present snapshot, sends what comes
//       out, and reports a quiescent state after each round.
// Why:  nothing is shared with other workers but what is immutable, atomic or a ring between exactly two sides.
// Cost: per burst one pointer load, one clock reading, and a call per egress port; per packet nothing here.
// Thread: run() on the worker's lcore; the rest from control. Counters and flows may be read at any time.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/flow_purge.h"
#include "dataplane/pipeline.h"
#include "io/clock.h"
#include "io/idle.h"
#include "io/ports.h"
#include "io/publisher.h"

namespace guideway {

struct WorkerParts {
  unsigned index = 0;  // 0 .. workers-1, also its place in the publisher
  unsigned lcore = 0;
  QsbrPublisher& publisher;
  const Clock& clock;
  const NextHops& next_hops;
  const PortTable& table;
  std::vector<PortLink> links;
  rte_mempool* mbufs = nullptr;
  Polling polling = Polling::adaptive;
};

class Worker {
 public:
  Worker(WorkerParts parts, WorkerCounters& counters, FlowState& flows,
         std::span<const FlowState* const> peers);

  void run(const std::atomic<bool>& stop);
  // One round over all queues; whether it found anything. run() calls it; tests do too.
  bool poll();
  // Control, after all workers have left run(): drops what it holds, sends what other workers left for its queues, and
  // counts what these do not take.
  void drain();
  [[nodiscard]] unsigned lcore() const { return parts_.lcore; }
  // Control: to have entries taken out of this worker's table.
  [[nodiscard]] FlowPurge& purge() { return purge_; }

 private:
  bool receive(const PortLink& link, const Snapshot& snapshot, std::uint32_t now_ms);
  bool readmit(const Snapshot& snapshot, std::uint32_t now_ms);
  bool receive_from_kernel(PortLink& link);
  void send();
  void send_to_kernel(PortLink& link, Outbox& box);
  void sleep(std::chrono::microseconds time);

  WorkerParts parts_;
  WorkerCounters& counters_;
  FlowTable& flows_;
  FlowPurge purge_;
  Pipeline pipeline_;
  Idle idle_;
  unsigned rounds_ = 0;
  Burst burst_;
  Outputs outputs_;
};

}  // namespace guideway
