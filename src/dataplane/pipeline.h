// Pipeline: one worker's way from received frames to frames to send.
// What: parse, follow first fragments, find the service, look the flow up, choose the backend, wrap, account: stages
//       over a burst.
// Why:  the NIC's workers, replay and the tests run this same code.
// Cost: no allocation, lock, log, throw or clock; time is an argument.
// Not:  receiving and sending (io), nor who may be sent to (the snapshot, made by state).
// Thread: one worker; everything given to the constructor outlives the pipeline.
#pragma once

#include <cstdint>
#include <span>

#include "dataplane/burst.h"
#include "dataplane/flow_state.h"
#include "dataplane/outputs.h"
#include "dataplane/token_bucket.h"
#include "snapshot/counters.h"
#include "snapshot/next_hops.h"
#include "snapshot/port_table.h"

struct rte_mempool;

namespace guideway {

struct PipelineParts {
  const PortTable& ports;
  const NextHops& next_hops;
  WorkerCounters& counters;  // this worker's own
  FlowState& flows;          // this worker's own
  // For packets that we make or must copy. Its mbufs have RTE_PKTMBUF_HEADROOM.
  rte_mempool* mbufs = nullptr;
  // The other workers': read for the rare packets that RSS brings to the wrong worker.
  std::span<const FlowState* const> peers{};
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineParts& parts) : parts_(parts) {}

  // Takes the burst's mbufs: each one ends in `out` or is freed and counted with its reason. The burst's
  // arrays keep what the stages found until the next run. `now_ms` may wrap; it only ever grows.
  // The caller empties `out` (by `sent`) before the next run, while the snapshot and the burst are still there.
  void run(Burst& burst, const Snapshot& snapshot, std::uint32_t now_ms, Outputs& out);

  // After each run and its sending, until it answers false: fills the burst with packets that were held and need not
  // be any longer; to be run and sent like others.
  [[nodiscard]] bool readmit(Burst& burst, std::uint32_t now_ms);

  // The first `sent` frames of the box are gone (the port owns them); the rest is freed, and each packet of which a frame
  // is among them is counted as `otherwise`, once. What services and backends count is counted here, so that it is what
  // left. Empties the box.
  void sent(Outbox& box, std::uint16_t sent, Verdict otherwise);
  // Both outputs at once, when every box has been dealt with: clears the bit masks.
  static void done(Outputs& out) { out.to_ports = out.to_kernel = 0; }

  // For polls that bring nothing, and now and then under load: removes some expired flows.
  void idle(std::uint32_t now_ms) { parts_.flows.table.sweep(now_ms); }
  // At the end: drops what is still held.
  void finish() { parts_.flows.fragments.clear(parts_.counters.verdicts); }

 private:
  PipelineParts parts_;
  const Burst* burst_ = nullptr;  // of the last run: where the frames in its outboxes came from
  TokenBucket errors_{1000, 50};  // ICMP errors that this worker makes
};

}  // namespace guideway
