#include <bit>

#include "dataplane/flow_class.h"
#include "dataplane/stages.h"

namespace guideway::stages {
namespace {

// False: the flow had an entry after all, which another packet of the burst has made, or which this SYN decides anew.
bool learn(const PipelineParts& parts, const SnapshotPool& pool, const Packet& packet, std::uint64_t hash,
           BackendId backend, std::uint32_t now_ms) {
  FlowClass flow_class = packet.kind == PacketKind::udp ? FlowClass::udp_fresh : FlowClass::fresh;
  if (is_syn(packet)) {
    // A SYN on the tuple of an established flow that stays where it is (a forged one, above all) must not
    // make the entry easier to evict.
    const FlowTable::Entry known = parts.flows.table.find_entry(hash, now_ms);
    if (known && known.backend() == backend && known.flow_class() == FlowClass::established) return false;
  } else if (packet.kind == PacketKind::tcp) {
    flow_class = flow_class_after(FlowClass::fresh, packet);
  }
  const auto inserted =
      parts.flows.table.insert(hash, backend, flow_class, now_ms, timeout_of(flow_class, pool.timeouts));
  VerdictCounters& counters = parts.counters.verdicts;
  if (inserted == FlowTable::Inserted::created || inserted == FlowTable::Inserted::evicted)
    counters.flows_created.add(1);
  if (inserted == FlowTable::Inserted::evicted) counters.flows_evicted.add(1);
  if (inserted == FlowTable::Inserted::full) [[unlikely]] {
    counters.flows_refused.add(1);
    BackendMarks::set(parts.counters.marks(backend).refused_ms, now_ms);
  }
  return inserted != FlowTable::Inserted::replaced;
}

// Any of the hops may be the one that knows the connection.
void note_strangers(const PipelineParts& parts, std::uint32_t now_ms, const Burst& burst) {
  for (std::uint32_t left = burst.strange; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] != Verdict::forward || !parts.flows.strangers.goes_on(burst.hash[i], now_ms))
      continue;
    parts.counters.verdicts.strangers.add(1);
    const HopList& hops = burst.hops[i];
    for (std::size_t hop = 0; hop < hops.count(); ++hop)
      BackendMarks::set(parts.counters.marks(burst.pool[i]->backends[hops.slot(hop)].id).stranger_ms, now_ms);
  }
}

}  // namespace

void learn_flows(const PipelineParts& parts, std::uint32_t now_ms, Burst& burst) {
  if (burst.strange != 0) [[unlikely]]
    note_strangers(parts, now_ms, burst);
  for (std::uint32_t left = burst.to_learn; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] != Verdict::forward) continue;
    const SnapshotPool& pool = *burst.pool[i];
    const BackendId first = pool.backends[burst.hops[i].slot(0)].id;
    const Packet& packet = burst.parsed[i];
    const bool opened = learn(parts, pool, packet, burst.hash[i], first, now_ms);
    // UDP has no packet that opens a flow by itself: of several in a burst the first one did.
    if (!opened && packet.kind == PacketKind::udp) burst.new_flow &= ~(1U << i);
  }
}

}  // namespace guideway::stages
