#include <cstring>

#include "dataplane/frame.h"
#include "dataplane/split.h"
#include "dataplane/stages.h"
#include "net/icmp.h"
#include "net/wrapping.h"

namespace guideway::stages {
namespace {

// How a packet gets to its first hop.
struct Way {
  std::uint8_t egress;
  MacAddress mac;
  std::size_t outer_size;
  std::size_t room;  // for the inner packet, behind the outer headers
};

// `forward`, else the reason why there is no way.
Verdict find_way(const PipelineParts& parts, const SnapshotPool& pool, const HopList& hops, Way& way) {
  const NextHop next_hop = parts.next_hops.get(pool.backends[hops.slot[0]].next_hop);
  if (next_hop.state == NextHop::State::port_down) return Verdict::drop_port_down;
  if (next_hop.state != NextHop::State::resolved || next_hop.port >= parts.ports.size)
    return Verdict::drop_next_hop_unresolved;
  // A router would send an unwrapped packet back to where its service address is announced.
  if (pool.encapsulation == Encapsulation::l2 && next_hop.behind_router)
    return Verdict::drop_next_hop_unresolved;
  const PortView& port = parts.ports.ports[next_hop.port];
  if (!port.link_up.load(std::memory_order_relaxed)) return Verdict::drop_port_down;
  const std::size_t mtu = port.mtu.load(std::memory_order_relaxed);
  way.egress = next_hop.port;
  way.mac = next_hop.mac;
  way.outer_size = net::wrapping_size(pool.encapsulation, pool.outer_source.family, hops.count);
  way.room = mtu > way.outer_size ? mtu - way.outer_size : 0;
  return Verdict::forward;
}

// The source address; `spread` holds it where it depends on the flow.
const std::uint8_t* source_of(const SnapshotPool& pool, std::uint64_t hash,
                              std::array<std::uint8_t, 4>& spread) {
  if (pool.outer_source_spread == 0 || pool.encapsulation == Encapsulation::gue) [[likely]]
    return pool.outer_source.bytes.data();
  const auto bits = static_cast<std::uint32_t>(hash >> 32) & pool.outer_source_spread;
  net::store_be32(spread.data(), net::load_be32(pool.outer_source.bytes.data()) | bits);
  return spread.data();
}

// Everything in front of the inner packet of `length` bytes, for packet i.
void write_frame(std::uint8_t* to, const Burst& burst, std::size_t i, const PortView& port, const Way& way,
                 std::size_t length) {
  const SnapshotPool& pool = *burst.pool[i];
  const HopList& hops = burst.hops[i];
  const Packet& packet = burst.parsed[i];
  std::array<std::uint8_t, 4> spread;
  net::Wrapping wrapping;
  wrapping.encapsulation = pool.encapsulation;
  net::GueOuter& outer = wrapping.outer;
  outer.ip = {.family = pool.outer_source.family,
              .source = source_of(pool, burst.hash[i], spread),
              .destination = pool.backends[hops.slot[0]].address.bytes.data(),
              .tos = pool.copy_tos ? packet.tos : std::uint8_t{0},
              .flow_hash = burst.hash[i]};
  for (std::size_t hop = 1; hop < hops.count; ++hop)
    outer.further[hop - 1] = pool.backends[hops.slot[hop]].address.bytes.data();
  outer.further_count = hops.count - std::size_t{1};
  outer.port = pool.gue_port;
  outer.inner_family = packet.family;
  outer.inner_length = length;
  write_ethernet(to, way.mac, port, net::wrapping_ethertype(wrapping));
  net::write_wrapping(to + link_size(port), wrapping);
}

// A packet that does not fit behind its outer headers and must not be fragmented. The sender is told where that helps
// and where it may be done: not about an ICMP error or a later fragment, nor to an address where nobody is, nor of less
// than IPv6's least MTU, which no host goes below (RFC 8201, 4).
Verdict judge_too_big(TokenBucket& errors, std::uint32_t now_ms, Burst& burst, std::size_t i,
                      std::size_t room) {
  const Packet& packet = burst.parsed[i];
  if (room == 0 || (burst.quoted >> i & 1) != 0 || packet.fragment_offset != 0) return Verdict::drop_too_big;
  if (packet.family == Family::ipv6 && room < net::ipv6_mtu_min) return Verdict::drop_too_big;
  const auto* ip = rte_pktmbuf_mtod_offset(burst.packets[i], const std::uint8_t*, packet.ip_offset);
  if (!net::can_be_answered(packet.family, net::source_address(ip, packet.family)))
    return Verdict::drop_too_big;
  if (!errors.take(now_ms)) return Verdict::drop_too_big;
  burst.answer_mtu[i] = static_cast<std::uint16_t>(room);
  return Verdict::answer;
}

// Each piece of the inner packet becomes a frame of its own, with the same hops.
Verdict wrap_in_pieces(const PipelineParts& parts, Burst& burst, std::size_t i, const PortView& port,
                       const Way& way) {
  if (burst.pool[i]->too_big == TooBig::drop) return Verdict::drop_too_big;
  Pieces pieces;
  if (const Verdict verdict = split(*burst.packets[i], burst.parsed[i], way.room, parts.mbufs, pieces);
      verdict != Verdict::forward)
    return verdict;
  if (!burst.has_room_for(pieces.count - std::size_t{1})) {
    pieces.free();
    return Verdict::drop_too_big;
  }
  const auto headers = static_cast<std::uint16_t>(link_size(port) + way.outer_size);
  for (std::size_t p = 0; p < pieces.count; ++p) {
    rte_mbuf& piece = *pieces.mbufs[p];
    const std::size_t length = piece.pkt_len;
    auto* frame = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(&piece, headers));
    write_frame(frame, burst, i, port, way, length);
  }
  rte_pktmbuf_free(burst.packets[i]);
  burst.packets[i] = pieces.mbufs[0];
  for (std::size_t p = 1; p < pieces.count; ++p) burst.add_further(i, pieces.mbufs[p]);
  return Verdict::forward;
}

Verdict wrap(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst,
             std::size_t i) {
  Way way;
  if (const Verdict verdict = find_way(parts, *burst.pool[i], burst.hops[i], way);
      verdict != Verdict::forward)
    return verdict;
  const PortView& port = parts.ports.ports[way.egress];
  const Packet& packet = burst.parsed[i];
  burst.egress[i] = way.egress;
  if (packet.ip_length > way.room) [[unlikely]]
    return packet.dont_fragment ? judge_too_big(errors, now_ms, burst, i, way.room)
                                : wrap_in_pieces(parts, burst, i, port, way);
  std::uint8_t* frame = reframe(burst.packets[i], packet, link_size(port) + way.outer_size, parts.mbufs);
  if (frame == nullptr) return Verdict::drop_no_buffer;
  write_frame(frame, burst, i, port, way, packet.ip_length);
  return Verdict::forward;
}

}  // namespace

void encapsulate(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst) {
  burst.further_count = 0;
  for (std::size_t i = 0; i < burst.size; ++i)
    if (burst.verdict[i] == Verdict::forward) burst.verdict[i] = wrap(parts, errors, now_ms, burst, i);
}

}  // namespace guideway::stages
