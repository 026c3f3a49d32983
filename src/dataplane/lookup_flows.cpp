#include <array>
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

// A pool's flows at one moment, at hand for as many packets in a row as are of the pool.
class PoolFlows {
 public:
  PoolFlows(FlowTable& table, const Snapshot& snapshot, const SnapshotPool& pool, std::uint32_t now_ms)
      : table_(table),
        snapshot_(snapshot),
        pool_(pool),
        now_ms_(now_ms),
        established_(now_ms, pool.timeouts.established_ms) {}

  // The slot that the packet of this entry goes to; puts the entry's end off.
  [[nodiscard, gnu::always_inline]] MemberIndex follow(FlowTable::Entry entry, const Packet& packet) const {
    if (!entry) return no_member;
    const MemberIndex slot = serving_slot(snapshot_, pool_, entry.backend(), packet.kind == PacketKind::tcp);
    if (slot == no_member) [[unlikely]] {
      // Its backend left or was stopped: the flow is decided anew and must not come back to it later. (An entry that
      // another packet of the burst has erased names no_backend, and may be erased again.)
      table_.erase(entry);
      return no_member;
    }
    const FlowClass next = flow_class_after(entry.flow_class(), packet);
    FlowTable::touch(entry, next,
                     next == FlowClass::established
                         ? established_
                         : FlowTable::Renewal(now_ms_, timeout_of(next, pool_.timeouts)));
    return slot;
  }

 private:
  FlowTable& table_;
  const Snapshot& snapshot_;
  const SnapshotPool& pool_;
  std::uint32_t now_ms_;
  FlowTable::Renewal established_;
};

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
  FlowTable& table = parts.flows.table;
  const MemberIndex slot =
      PoolFlows(table, snapshot, pool, now_ms).follow(table.find_entry(burst.hash[i], now_ms), packet);
  return slot != no_member ? slot : lookup_anywhere(parts, snapshot, pool, tcp, burst.hash[i], now_ms);
}

// Whose flow the table may know: a SYN is always a new decision, even on a known tuple.
std::uint32_t wanted(const Burst& burst) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < burst.size; ++i) {
    const bool may_be_known = burst.verdict[i] == Verdict::forward && burst.pool[i]->flow_table &&
                              !is_syn(burst.parsed[i]) && burst.parsed[i].kind != PacketKind::icmp;
    out |= std::uint32_t{may_be_known} << i;
  }
  return out & ~burst.fragments;
}

// An ICMP error goes where the flow it quotes goes.
void lookup_quoted(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms, Burst& burst) {
  for (std::uint32_t left = burst.quoted; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] != Verdict::forward || !burst.pool[i]->flow_table) continue;
    const bool tcp = key_protocol(burst.key[i], burst.parsed[i].family) == net::protocol_tcp;
    burst.tracked[i] = lookup_anywhere(parts, snapshot, *burst.pool[i], tcp, burst.hash[i], now_ms);
  }
}

}  // namespace

void lookup_flows(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms, Burst& burst) {
  burst.tracked.fill(no_member);
  for (std::uint32_t left = burst.fragments; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] == Verdict::forward)
      burst.tracked[i] = lookup_fragment(parts, snapshot, burst, i, now_ms);
  }
  lookup_quoted(parts, snapshot, now_ms, burst);

  std::uint32_t left = wanted(burst);
  if (left == 0) return;
  FlowTable& table = parts.flows.table;
  std::array<FlowTable::Entry, burst_max> entries;
  table.find_entries(burst.hash, left, now_ms, entries);
  while (left != 0) {
    const SnapshotPool* pool = burst.pool[static_cast<std::size_t>(std::countr_zero(left))];
    const PoolFlows flows(table, snapshot, *pool, now_ms);
    for (; left != 0; left &= left - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(left));
      if (burst.pool[i] != pool) break;
      burst.tracked[i] = flows.follow(entries[i], burst.parsed[i]);
    }
  }
}

}  // namespace guideway::stages
