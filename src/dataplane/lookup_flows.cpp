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

  [[nodiscard, gnu::always_inline]] MemberIndex find(const Packet& packet, std::uint64_t hash) const {
    const FlowTable::Entry entry = table_.find_entry(hash, now_ms_);
    if (!entry) return no_member;
    const MemberIndex slot = serving_slot(snapshot_, pool_, entry.backend(), packet.kind == PacketKind::tcp);
    if (slot == no_member) [[unlikely]] {
      // Its backend left or was stopped: the flow is decided anew and must not come back to it later.
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
  const MemberIndex slot = PoolFlows(parts.flows.table, snapshot, pool, now_ms).find(packet, burst.hash[i]);
  return slot != no_member ? slot : lookup_anywhere(parts, snapshot, pool, tcp, burst.hash[i], now_ms);
}

// The packets from `first` on that are of the same pool, which has a flow table; answers where that ends.
std::size_t lookup_run(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms,
                       Burst& burst, std::size_t first) {
  const SnapshotPool& pool = *burst.pool[first];
  const PoolFlows flows(parts.flows.table, snapshot, pool, now_ms);
  const std::size_t size = burst.size;
  const std::uint32_t fragments = burst.fragments;
  std::size_t i = first;
  for (; i < size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    if (burst.pool[i] != &pool) break;
    const Packet& packet = burst.parsed[i];
    // A SYN is always a new decision, even on a known tuple.
    if (is_syn(packet) || (fragments >> i & 1) != 0) continue;
    if (packet.kind == PacketKind::icmp) [[unlikely]] {
      if ((burst.quoted >> i & 1) == 0) continue;
      const bool tcp = key_protocol(burst.key[i], packet.family) == net::protocol_tcp;
      burst.tracked[i] = lookup_anywhere(parts, snapshot, pool, tcp, burst.hash[i], now_ms);
      continue;
    }
    burst.tracked[i] = flows.find(packet, burst.hash[i]);
  }
  return i;
}

}  // namespace

void lookup_flows(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms, Burst& burst) {
  burst.tracked.fill(no_member);
  for (std::uint32_t left = burst.fragments; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] == Verdict::forward)
      burst.tracked[i] = lookup_fragment(parts, snapshot, burst, i, now_ms);
  }
  for (std::size_t i = 0; i < burst.size;) {
    if (burst.verdict[i] == Verdict::forward && burst.pool[i]->flow_table) {
      i = lookup_run(parts, snapshot, now_ms, burst, i);
    } else {
      ++i;
    }
  }
}

}  // namespace guideway::stages
