#include <array>
#include <bit>

#include "dataplane/flow_class.h"
#include "dataplane/key_bytes.h"
#include "dataplane/stages.h"
#include "net/protocols.h"

namespace guideway::stages {
namespace {

// Whether a flow's backend is in the packet's pool and still serves such flows.
[[gnu::always_inline]] inline bool serves(const BackendPlace& place, const SnapshotPool& pool,
                                          FlowKind kind) {
  return place.pool == &pool && place.keeps[static_cast<std::size_t>(kind)];
}

// The slot of a backend that serves them, else no_member.
MemberIndex serving_slot(std::span<const BackendPlace> places, const SnapshotPool& pool, BackendId id,
                         FlowKind kind) {
  if (to_index(id) >= places.size()) return no_member;
  const BackendPlace& place = places[to_index(id)];
  return serves(place, pool, kind) ? place.slot : no_member;
}

// A pool's flows at one moment, at hand for as many packets in a row as are of the pool.
class PoolFlows {
 public:
  PoolFlows(FlowTable& table, const Snapshot& snapshot, const SnapshotPool& pool, std::uint32_t now_ms)
      : places_(snapshot.backends),
        pool_(&pool),
        renewals_{FlowTable::Renewal(FlowClass::established, now_ms, pool.timeouts.established_ms),
                  FlowTable::Renewal(FlowClass::udp, now_ms, pool.timeouts.udp_ms)},
        table_(&table),
        now_ms_(now_ms) {}

  [[nodiscard]] const SnapshotPool* pool() const { return pool_; }
  // The slot that the packet of this entry goes to, no_member where that is to be decided anew; puts the entry's end
  // off.
  [[nodiscard, gnu::always_inline]] MemberIndex follow(const FlowTable::Entry& entry,
                                                       const Packet& packet) const {
    // What most packets are: one more of a flow that was put off a moment ago. It is asked for as one, since five branches
    // took up to twice the time, by where the compiler put them.
    const std::size_t id = to_index(entry.backend());
    if (id < places_.size()) [[likely]] {
      const BackendPlace& place = places_[id];
      const auto kind = static_cast<std::size_t>(flow_kind(packet));
      const unsigned plain = unsigned{place.pool == pool_} & unsigned{place.keeps[kind]} &
                             unsigned{goes_on(packet)} & unsigned{renewals_[kind].holds(entry)};
      if (plain != 0) [[likely]]
        return place.slot;
    }
    return follow_any(*entry.bucket, entry.slot, packet);
  }

 private:
  // Takes what fits into registers: an entry would be put together in memory for it, for every packet.
  [[gnu::noinline]] MemberIndex follow_any(FlowTable::Bucket& bucket, unsigned at,
                                           const Packet& packet) const {
    const FlowTable::Entry entry = FlowTable::entry_at({&bucket, at});
    const MemberIndex slot = serving_slot(places_, *pool_, entry.backend(), flow_kind(packet));
    if (slot == no_member) {
      // Its backend left or was stopped: the flow must not come back to it later.
      table_->erase(entry);
      return no_member;
    }
    const FlowClass next = flow_class_after(entry.flow_class(), packet);
    FlowTable::touch(entry, {next, now_ms_, timeout_of(next, pool_->timeouts)});
    return slot;
  }

  std::span<const BackendPlace> places_;
  const SnapshotPool* pool_;
  std::array<FlowTable::Renewal, 2> renewals_;  // by FlowKind: of a flow that goes on
  FlowTable* table_;
  std::uint32_t now_ms_;
};

// For packets that RSS may have brought to another worker than their flow, like an ICMP error about it: nothing is
// written.
MemberIndex lookup_anywhere(const PipelineParts& parts, const Snapshot& snapshot, const SnapshotPool& pool,
                            FlowKind kind, std::uint64_t hash, std::uint32_t now_ms) {
  BackendId id = parts.flows.table.find(hash, now_ms);
  for (const FlowState* peer : parts.peers) {
    if (id != no_backend) break;
    id = peer->table.find(hash, now_ms);
  }
  return id == no_backend ? no_member : serving_slot(snapshot.backends, pool, id, kind);
}

// A later fragment goes where its first one went, with or without a flow table; a first one like any packet of its
// flow, whose other packets have ports for RSS to spread by and may be with another worker.
MemberIndex lookup_fragment(const PipelineParts& parts, const Snapshot& snapshot, const Burst& burst,
                            std::size_t i, std::uint32_t now_ms) {
  const SnapshotPool& pool = *burst.pool[i];
  const Packet& packet = burst.parsed[i];
  // Those of an echo request, which is passed on, are of no flow.
  if (packet.kind != PacketKind::tcp && packet.kind != PacketKind::udp) return no_member;
  const FlowKind kind = flow_kind(packet);
  if (packet.fragment_offset != 0)
    return burst.leader[i] == no_backend ? no_member
                                         : serving_slot(snapshot.backends, pool, burst.leader[i], kind);
  if (!pool.flow_table || is_syn(packet)) return no_member;
  FlowTable& table = parts.flows.table;
  if (const FlowTable::Entry entry = table.find_entry(burst.hash[i], now_ms))
    if (const MemberIndex slot = PoolFlows(table, snapshot, pool, now_ms).follow(entry, packet);
        slot != no_member)
      return slot;
  return lookup_anywhere(parts, snapshot, pool, kind, burst.hash[i], now_ms);
}

// An ICMP error goes where the flow it quotes goes.
void lookup_quoted(const PipelineParts& parts, const Snapshot& snapshot, std::uint32_t now_ms, Burst& burst) {
  for (std::uint32_t left = burst.quoted; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (burst.verdict[i] != Verdict::forward || !burst.pool[i]->flow_table) continue;
    const FlowKind kind = key_protocol(burst.key[i], burst.parsed[i].family) == net::protocol_tcp
                              ? FlowKind::tcp
                              : FlowKind::udp;
    burst.tracked[i] = lookup_anywhere(parts, snapshot, *burst.pool[i], kind, burst.hash[i], now_ms);
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

  const std::uint32_t wanted = burst.may_be_known & ~(burst.fragments | burst.icmp);
  if (wanted == 0) return;
  FlowTable& table = parts.flows.table;
  PoolFlows flows(table, snapshot, *burst.pool[static_cast<std::size_t>(std::countr_zero(wanted))], now_ms);
  const auto follow = [&](std::size_t i, const FlowTable::Entry& entry) __attribute__((always_inline)) {
    if (burst.pool[i] != flows.pool()) [[unlikely]]
      flows = PoolFlows(table, snapshot, *burst.pool[i], now_ms);
    burst.tracked[i] = flows.follow(entry, burst.parsed[i]);
  };
  table.visit_entries(burst.hash, wanted, now_ms, follow);
}

}  // namespace guideway::stages
