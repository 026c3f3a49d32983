#include "dataplane/stages.h"

namespace guideway::stages {
namespace {

bool put(Outbox& box, const Burst& burst, std::size_t i) {
  if (box.size == outbox_max) return false;
  box.frames[box.size] = burst.packets[i];
  box.bytes_in[box.size] = burst.bytes[i];
  box.verdict[box.size] = burst.verdict[i];
  box.origin[box.size] = static_cast<std::uint8_t>(i);
  ++box.size;
  return true;
}

// The other pieces of packets whose first one is in its outbox.
void dispatch_further(const Burst& burst, Outputs& out) {
  for (std::size_t n = 0; n < burst.further_count; ++n) {
    const std::size_t i = burst.further_origin[n];
    Outbox& box = out.port[burst.egress[i]];
    if (burst.verdict[i] != Verdict::forward || box.size == outbox_max) {
      rte_pktmbuf_free(burst.further[n]);
      continue;
    }
    box.frames[box.size] = burst.further[n];
    box.verdict[box.size] = further_piece;
    box.origin[box.size] = burst.further_origin[n];
    ++box.size;
  }
}

// Puts the packet where its verdict sends it; a full outbox makes it a drop.
void dispatch(Burst& burst, std::size_t i, Outputs& out) {
  switch (burst.verdict[i]) {
    case Verdict::forward:
    case Verdict::answer:
      if (put(out.port[burst.egress[i]], burst, i)) {
        out.to_ports |= 1U << burst.egress[i];
      } else {
        burst.verdict[i] = Verdict::drop_tx_full;
      }
      break;
    case Verdict::kernel:
      if (put(out.kernel[burst.port], burst, i)) {
        out.to_kernel |= 1U << burst.port;
      } else {
        burst.verdict[i] = Verdict::drop_kernel_full;
      }
      break;
    default:
      break;
  }
}

}  // namespace

void account(const PipelineParts& parts, Burst& burst, Outputs& out) {
  VerdictCounters& counters = parts.counters.verdicts;
  std::uint64_t bytes_in = 0;
  for (std::size_t i = 0; i < burst.size; ++i) {
    bytes_in += burst.bytes[i];
    const bool unmatched =
        burst.service[i] != nullptr && burst.parsed[i].kind != PacketKind::icmp &&
        (burst.verdict[i] == Verdict::kernel || burst.verdict[i] == Verdict::drop_unmatched);
    if (unmatched) parts.counters.service(burst.service[i]->id).unmatched.add(1);
    dispatch(burst, i, out);
    if (burst.verdict[i] == Verdict::held) counters.count(Verdict::held, burst.bytes[i]);
    if (!is_drop(burst.verdict[i])) continue;
    rte_pktmbuf_free(burst.packets[i]);
    counters.count(burst.verdict[i], burst.bytes[i]);
  }
  dispatch_further(burst, out);
  if (burst.readmitted) return;
  counters.packets_in.add(burst.size);
  counters.bytes_in.add(bytes_in);
}

}  // namespace guideway::stages
