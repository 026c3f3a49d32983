#include "dataplane/pipeline.h"

#include "dataplane/stages.h"

namespace guideway {
namespace {

void count_forwarded(WorkerCounters& counters, const Burst& burst, std::size_t i) {
  const std::size_t bytes = burst.parsed[i].ip_length;
  BackendCounters& backend = counters.backend(burst.pool[i]->backends[burst.hops[i].slot[0]].id);
  backend.packets.add(1);
  backend.bytes.add(bytes);
  ServiceCounters& service = counters.service(burst.service[i]->id);
  service.packets.add(1);
  service.bytes.add(bytes);
  if (burst.tracked[i] != no_member) backend.tracked_packets.add(1);
  if ((burst.new_flow >> i & 1) == 0) return;
  backend.new_flows.add(1);
  service.new_flows.add(1);
}

}  // namespace

void Pipeline::run(Burst& burst, const Snapshot& snapshot, std::uint32_t now_ms, Outputs& out) {
  stages::parse(parts_, burst);
  stages::follow_fragments(parts_, snapshot, now_ms, burst);
  stages::find_service(snapshot, burst);
  stages::hash_flows(burst);
  stages::lookup_flows(parts_, snapshot, now_ms, burst);
  stages::choose_backend(burst);
  stages::lead_fragments(parts_, burst);
  stages::encapsulate(parts_, errors_, now_ms, burst);
  stages::learn_flows(parts_, now_ms, burst);
  stages::answer(parts_, burst);
  stages::account(parts_, burst, out);
  burst_ = &burst;
}

bool Pipeline::readmit(Burst& burst, std::uint32_t now_ms) {
  burst.readmitted = false;
  FragmentTable& fragments = parts_.flows.fragments;
  if (!fragments.holds_any()) [[likely]]
    return false;
  VerdictCounters& counters = parts_.counters.verdicts;
  fragments.expire(now_ms, counters);
  if (!parts_.peers.empty())
    fragments.ask(now_ms, counters,
                  [&](std::uint64_t key) { return stages::leader_elsewhere(parts_, key, now_ms); });
  burst.size = fragments.take_ready(burst.packets, burst.port, counters);
  burst.truncated = 0;
  burst.readmitted = burst.size != 0;
  return burst.readmitted;
}

void Pipeline::sent(Outbox& box, std::uint16_t sent, Verdict otherwise) {
  VerdictCounters& counters = parts_.counters.verdicts;
  for (std::size_t first = 0, end = 0; first < box.size; first = end) {
    do ++end;
    while (end < box.size && box.verdict[end] == further_piece);
    // A packet in pieces is lost with any of them: nobody puts it together again.
    const Verdict verdict = end <= sent ? box.verdict[first] : otherwise;
    counters.count(verdict, box.bytes_in[first]);
    if (verdict == Verdict::forward) count_forwarded(parts_.counters, *burst_, box.origin[first]);
  }
  for (std::size_t i = sent; i < box.size; ++i) rte_pktmbuf_free(box.frames[i]);
  box.size = 0;
}

}  // namespace guideway
