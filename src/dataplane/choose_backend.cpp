#include "dataplane/flow_class.h"
#include "dataplane/stages.h"
#include "net/packet.h"

namespace guideway::stages {
namespace {

HopList hops_of(const Row& row) {
  HopList hops{row.hop, 0};
  while (hops.count < hops.slot.size() && hops.slot[hops.count] != no_member) ++hops.count;
  return hops;
}

// `tracked`, then the row's hops without it, as many as the row has.
HopList hops_behind(MemberIndex tracked, const HopList& row) {
  HopList hops{{tracked, no_member, no_member}, 1};
  for (std::size_t i = 0; i < row.count && hops.count < row.count; ++i)
    if (row.slot[i] != tracked) hops.slot[hops.count++] = row.slot[i];
  return hops;
}

// Whether a packet without an entry makes one. A TCP packet that is no SYN is not learned where further hops
// are named: the backends find the right one among themselves.
bool creates_entry(const SnapshotPool& pool, const Packet& packet) {
  if (!pool.flow_table) return false;
  return packet.kind == PacketKind::udp || is_syn(packet) || pool.encapsulation != Encapsulation::gue;
}

void learn(const PipelineParts& parts, const SnapshotPool& pool, const Packet& packet, std::uint64_t hash,
           BackendId backend, std::uint32_t now_ms) {
  FlowClass flow_class = packet.kind == PacketKind::udp ? FlowClass::udp_fresh : FlowClass::fresh;
  if (is_syn(packet)) {
    // A SYN on the tuple of an established flow that stays where it is (a forged one, above all) must not
    // make the entry easier to evict.
    const FlowTable::Entry known = parts.flows.find_entry(hash, now_ms);
    if (known && known.backend() == backend && known.flow_class() == FlowClass::established) return;
  } else if (packet.kind == PacketKind::tcp) {
    flow_class = flow_class_after(FlowClass::fresh, packet);
  }
  const auto inserted =
      parts.flows.insert(hash, backend, flow_class, now_ms, timeout_of(flow_class, pool.timeouts));
  VerdictCounters& counters = parts.counters.verdicts;
  if (inserted == FlowTable::Inserted::created || inserted == FlowTable::Inserted::evicted)
    counters.flows_created.add(1);
  if (inserted == FlowTable::Inserted::evicted) counters.flows_evicted.add(1);
}

Verdict choose(const PipelineParts& parts, std::uint32_t now_ms, Burst& burst, std::size_t i) {
  const SnapshotPool& pool = *burst.pool[i];
  const Packet& packet = burst.parsed[i];
  const HopList row = hops_of(*burst.row[i]);
  if (burst.tracked[i] != no_member) {
    burst.hops[i] = hops_behind(burst.tracked[i], row);
    parts.counters.backend(pool.backends[burst.tracked[i]].id).tracked_packets.add(1);
    return Verdict::forward;
  }
  const bool new_flow = packet.kind == PacketKind::udp || is_syn(packet);
  if (new_flow && burst.row[i]->takes_new == 0)
    return packet.kind == PacketKind::udp ? Verdict::drop_no_backend_udp : Verdict::drop_no_backend_syn;
  if (row.count == 0) return Verdict::drop_no_backend;
  burst.hops[i] = row;
  const BackendId first = pool.backends[row.slot[0]].id;
  if (creates_entry(pool, packet)) learn(parts, pool, packet, burst.hash[i], first, now_ms);
  // Without a flow table every UDP packet is a decision, not a flow.
  if (is_syn(packet) || (new_flow && pool.flow_table)) {
    parts.counters.backend(first).new_flows.add(1);
    parts.counters.service(burst.service[i]->id).new_flows.add(1);
  }
  return Verdict::forward;
}

}  // namespace

void choose_backend(const PipelineParts& parts, std::uint32_t now_ms, Burst& burst) {
  for (std::size_t i = 0; i < burst.size; ++i)
    if (burst.verdict[i] == Verdict::forward) burst.verdict[i] = choose(parts, now_ms, burst, i);
}

}  // namespace guideway::stages
