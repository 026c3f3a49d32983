#include "dataplane/stages.h"
#include "net/packet.h"

namespace guideway::stages {
namespace {

// `tracked`, then the row's hops without it, as many as the row has.
HopList hops_behind(MemberIndex tracked, const HopList& row) {
  const MemberIndex first = row.slot(0), second = row.slot(1), third = row.slot(2);
  if (tracked == first) [[likely]]
    return row;
  const MemberIndex last = tracked == second ? third : second;
  return {tracked, row.count() < 2 ? no_member : first, row.count() < 3 ? no_member : last,
          row.count() == 0 ? std::size_t{1} : row.count()};
}

// Whether a packet without an entry, of a pool with a flow table, makes one. A TCP packet that is no SYN is not learned
// where further hops are named: the backends find the right one among themselves. ICMP makes none: an error is somebody
// else's word about a flow, and nobody asks the table about echoes.
bool creates_entry(const SnapshotPool& pool, const Packet& packet) {
  if (packet.fragment_offset != 0) return false;
  if (packet.kind == PacketKind::tcp) return is_syn(packet) || !names_further_hops(pool.encapsulation);
  return packet.kind == PacketKind::udp;
}

// Whether a packet without an entry, of a pool that counts its flows, shows a connection that nobody counts. A RST ends
// one, and a SYN+ACK is none that a client sends.
bool is_strange(const Packet& packet) {
  return packet.kind == PacketKind::tcp && packet.fragment_offset == 0 &&
         (packet.tcp_flags & (tcp_syn | tcp_rst)) == 0;
}

bool opens_flow(const Packet& packet) {
  return (packet.kind == PacketKind::udp && packet.fragment_offset == 0) || is_syn(packet);
}

// A packet whose flow no table knows, and which the row therefore decides.
Verdict choose_by_row(Burst& burst, std::size_t i) {
  const SnapshotPool& pool = *burst.pool[i];
  const Packet& packet = burst.parsed[i];
  const HopList row(*burst.row[i]);
  burst.hops[i] = row;
  const bool new_flow = opens_flow(packet);
  if (new_flow && burst.row[i]->takes_new == 0) [[unlikely]]
    return packet.kind == PacketKind::udp ? Verdict::drop_no_backend_udp : Verdict::drop_no_backend_syn;
  if (row.count() == 0) [[unlikely]]
    return Verdict::drop_no_backend;
  if (pool.flow_table) {
    if (creates_entry(pool, packet)) {
      burst.to_learn |= 1U << i;
    } else if (is_strange(packet)) {
      burst.strange |= 1U << i;
    }
  }
  // Without a flow table every UDP packet is a decision, not a flow.
  if (new_flow && (pool.flow_table || packet.kind == PacketKind::tcp)) burst.new_flow |= 1U << i;
  return Verdict::forward;
}

}  // namespace

void choose_backend(Burst& burst) {
  burst.new_flow = burst.to_learn = burst.strange = 0;
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    if (burst.tracked[i] != no_member) {
      burst.hops[i] = hops_behind(burst.tracked[i], HopList(*burst.row[i]));
    } else {
      const Verdict verdict = choose_by_row(burst, i);
      if (verdict != Verdict::forward) [[unlikely]]
        burst.verdict[i] = verdict;
    }
  }
}

}  // namespace guideway::stages
