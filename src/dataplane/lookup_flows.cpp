#include <bit>

#include "dataplane/flow_class.h"
#include "dataplane/key_bytes.h"
#include "dataplane/stages.h"
#include "net/protocols.h"

namespace guideway::stages {
namespace {

// The slot of the entry's backend if that one is in the packet's pool and still serves such flows.
MemberIndex serving_slot(const Snapshot& snapshot, const SnapshotPool& pool, BackendId id, bool tcp) {
  if (to_index(id) >= snapshot.backends.size()) return no_member;
  const BackendPlace& place = snapshot.backends[to_index(id)];
  return place.pool == &pool && (tcp ? place.keeps_tcp : place.keeps_udp) ? place.slot : no_member;
}

[[gnu::always_inline]] inline MemberIndex lookup(FlowTable& flows, const Snapshot& snapshot,
                                                 const SnapshotPool& pool, const Packet& packet,
                                                 std::uint64_t hash, std::uint32_t now_ms) {
  const FlowTable::Entry entry = flows.find_entry(hash, now_ms);
  if (!entry) return no_member;
  const MemberIndex slot = serving_slot(snapshot, pool, entry.backend(), packet.kind == PacketKind::tcp);
  if (slot == no_member) [[unlikely]] {
    // Its backend left or was stopped: the flow is decided anew and must not come back to it later.
    flows.erase(entry);
    return no_member;
  }
  const FlowClass next = flow_class_after(entry.flow_class(), packet);
  FlowTable::touch(entry, next, now_ms, timeout_of(next, pool.timeouts));
  return slot;
}

// For packets that RSS may have brought to another worker than their flow, like an ICMP error about it: nothing is
// written.
MemberIndex lookup_anywhere(const PipelineParts& parts, const Snapshot& snapshot, const SnapshotPool& pool,
                            bool tcp, std::uint64_t hash, std::uint32_t now_ms) {
  BackendId id = parts.flows.table.find(hash, now_ms);
  for (const FlowState* peer : parts.peers) {
    if (id != no_backend) break;
    id = peer->table.find(hash, now_ms);
  }
  return id == no_backend ? no_member : serving_slot(snapshot, pool, id, tcp);
}

// A later fragment goes where its first one went, with or without a flow table; a first one like any packet of its
// flow, whose other packets have ports for RSS to spread by and may be with another worker.
MemberIndex lookup_fragment(const PipelineParts& parts, const Snapshot& snapshot, const Burst& burst,
                            std::size_t i, std::uint32_t now_ms) {
  const SnapshotPool& pool = *burst.pool[i];
  const Packet& packet = burst.parsed[i];
  const bool tcp = packet.kind == PacketKind::tcp;
  if (packet.fragment_offset != 0)
    return burst.leader[i] == no_backend ? no_member : serving_slot(snapshot, pool, burst.leader[i], tcp);
  if (!pool.flow_table || is_syn(packet)) return no_member;
  const MemberIndex slot = lookup(parts.flows.table, snapshot, pool, packet, burst.hash[i], now_ms);
  return slot != no_member ? slot : lookup_anywhere(parts, snapshot, pool, tcp, burst.hash[i], now_ms);
}

}  // namespace

void lookup_flows(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms, Burst& burst) {
  burst.tracked.fill(no_member);
  for (std::uint32_t left = burst.fragments; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] == Verdict::forward)
      burst.tracked[i] = lookup_fragment(parts, snapshot, burst, i, now_ms);
  }
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    const SnapshotPool& pool = *burst.pool[i];
    const Packet& packet = burst.parsed[i];
    // A SYN is always a new decision, even on a known tuple.
    if (!pool.flow_table || is_syn(packet) || (burst.fragments >> i & 1) != 0) continue;
    if (packet.kind == PacketKind::icmp) [[unlikely]] {
      if ((burst.quoted >> i & 1) == 0) continue;
      const bool tcp = key_protocol(burst.key[i], packet.family) == net::protocol_tcp;
      burst.tracked[i] = lookup_anywhere(parts, snapshot, pool, tcp, burst.hash[i], now_ms);
      continue;
    }
    burst.tracked[i] = lookup(parts.flows.table, snapshot, pool, packet, burst.hash[i], now_ms);
  }
}

}  // namespace guideway::stages
