#include "dataplane/stages.h"

namespace guideway::stages {
namespace {

static_assert(outbox_max >= burst_max + further_max, "an outbox has room for all frames of a burst");

void put(Outbox& box, const Burst& burst, std::size_t i) {
  box.frames[box.size] = burst.packets[i];
  box.bytes_in[box.size] = burst.bytes[i];
  box.verdict[box.size] = burst.verdict[i];
  box.origin[box.size] = static_cast<std::uint8_t>(i);
  ++box.size;
}

// The other pieces of packet i, the n-th of the burst's and those behind it, right behind the first one: so that what
// follows in the flow does not overtake them, and `sent` finds them together. Returns the next packet's n.
std::size_t dispatch_further(const Burst& burst, std::size_t i, std::size_t n, Outputs& out) {
  Outbox& box = out.port[burst.egress[i]];
  for (; n < burst.further_count && burst.further_origin[n] == i; ++n, ++box.size) {
    box.frames[box.size] = burst.further[n];
    box.verdict[box.size] = further_piece;
    box.origin[box.size] = burst.further_origin[n];
  }
  return n;
}

// Puts the packet where its verdict sends it.
void dispatch(const Burst& burst, std::size_t i, Outputs& out) {
  switch (burst.verdict[i]) {
    case Verdict::forward:
    case Verdict::answer:
      put(out.port[burst.egress[i]], burst, i);
      out.to_ports |= 1U << burst.egress[i];
      break;
    case Verdict::kernel:
      put(out.kernel[burst.port], burst, i);
      out.to_kernel |= 1U << burst.port;
      break;
    default:
      break;
  }
}

}  // namespace

void account(const PipelineParts& parts, const Burst& burst, Outputs& out) {
  VerdictCounters& counters = parts.counters.verdicts;
  std::uint64_t bytes_in = 0;
  std::size_t further = 0;
  for (std::size_t i = 0; i < burst.size; ++i) {
    bytes_in += burst.bytes[i];
    dispatch(burst, i, out);
    const Verdict verdict = burst.verdict[i];
    if (verdict == Verdict::forward) [[likely]] {
      further = dispatch_further(burst, i, further, out);
      continue;
    }
    const bool unmatched = burst.service[i] != nullptr && burst.parsed[i].kind != PacketKind::icmp &&
                           (verdict == Verdict::kernel || verdict == Verdict::drop_unmatched);
    if (unmatched) parts.counters.service(burst.service[i]->id).unmatched.add(1);
    if (verdict == Verdict::held) counters.count(verdict, burst.bytes[i]);
    if (!is_drop(verdict)) continue;
    rte_pktmbuf_free(burst.packets[i]);
    counters.count(verdict, burst.bytes[i]);
  }
  if (burst.readmitted) return;
  counters.packets_in.add(burst.size);
  counters.bytes_in.add(bytes_in);
}

}  // namespace guideway::stages
