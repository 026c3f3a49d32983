#include "dataplane/pipeline.h"

#include <bit>

#include "dataplane/stages.h"

namespace guideway {
namespace {

// What a box of forwarded packets counts: sums are added once a box, or once for as many packets in a row as are of one
// service.
class ForwardedCounts {
 public:
  ForwardedCounts(WorkerCounters& counters, const Burst& burst) : counters_(counters), burst_(burst) {}

  [[gnu::always_inline]] void add(std::size_t i) {
    const std::size_t bytes = burst_.parsed[i].ip_length;
    BackendCounters& counters = backend(i);
    counters.packets.add(1);
    counters.bytes.add(bytes);
    if (burst_.tracked[i] != no_member) counters.tracked_packets.add(1);
    if (burst_.service[i] != service_) {
      flush_service();
      service_ = burst_.service[i];
    }
    ++service_packets_;
    service_bytes_ += bytes;
  }
  // Of those that were added, the ones that begin a flow: bit i.
  void add_new_flows(std::uint32_t packets) {
    for (; packets != 0; packets &= packets - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(packets));
      backend(i).new_flows.add(1);
      counters_.service(burst_.service[i]).new_flows.add(1);
    }
  }
  // `bytes` of the frames as they came in.
  void flush(std::uint64_t packets, std::uint64_t bytes) {
    flush_service();
    counters_.verdicts.add(Verdict::forward, packets, bytes);
  }

 private:
  [[nodiscard]] BackendCounters& backend(std::size_t i) const {
    return counters_.backend(burst_.pool[i]->backends[burst_.hops[i].slot(0)].id);
  }
  void flush_service() {
    if (service_packets_ == 0) return;
    ServiceCounters& service = counters_.service(service_);
    service.packets.add(service_packets_);
    service.bytes.add(service_bytes_);
    service_packets_ = service_bytes_ = 0;
  }

  WorkerCounters& counters_;
  const Burst& burst_;
  ServiceId service_ = no_service;  // of the sums that are not flushed yet
  std::uint64_t service_packets_ = 0, service_bytes_ = 0;
};

// Of a box with anything in it: packets in pieces, answers, frames for the kernel, and frames that were not sent.
void count_each(VerdictCounters& counters, const Burst& burst, const Outbox& box, std::size_t sent,
                Verdict otherwise, ForwardedCounts& forwarded) {
  std::uint32_t added = 0;
  std::uint64_t bytes = 0;
  for (std::size_t first = 0, end = 0; first < box.size; first = end) {
    const std::size_t i = box.origin[first];
    do ++end;
    while (end < box.size && box.origin[end] == i);
    // A packet in pieces is lost with any of them: nobody puts it together again.
    const Verdict verdict = end <= sent ? burst.verdict[i] : otherwise;
    if (verdict == Verdict::forward) {
      forwarded.add(i);
      added |= 1U << i;
      bytes += burst.bytes[i];
    } else {
      counters.count(verdict, burst.bytes[i]);
    }
  }
  forwarded.add_new_flows(burst.new_flow & added);
  forwarded.flush(static_cast<std::uint64_t>(std::popcount(added)), bytes);
}

}  // namespace

void Pipeline::run(Burst& burst, const Snapshot& snapshot, std::uint32_t now_ms, Outputs& out) {
  stages::parse(parts_, burst);
  stages::follow_fragments(parts_, snapshot, now_ms, burst);
  stages::find_service(snapshot, burst);
  stages::hash_flows(parts_, burst);
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
  ForwardedCounts forwarded(parts_.counters, *burst_);
  if (box.whole_burst && sent == box.size) [[likely]] {
    for (std::size_t i = 0; i < sent; ++i) forwarded.add(i);
    forwarded.add_new_flows(burst_->new_flow);
    forwarded.flush(sent, burst_->bytes_in);
  } else {
    count_each(parts_.counters.verdicts, *burst_, box, sent, otherwise, forwarded);
  }
  for (std::size_t i = sent; i < box.size; ++i) rte_pktmbuf_free(box.frames[i]);
  box.empty();
}

}  // namespace guideway
