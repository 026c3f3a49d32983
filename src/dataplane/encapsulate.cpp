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
  std::uint64_t next_hop;  // as NextHops packs it
  std::size_t outer_size;
  std::size_t room;  // for the inner packet, behind the outer headers
  std::uint8_t egress;
};

// `forward`, else the reason why there is no way.
template <Encapsulation encapsulation, Family outer>
[[gnu::always_inline]] inline Verdict find_way(const PipelineParts& parts, const SnapshotPool& pool,
                                               const HopList& hops, Way& way) {
  const std::uint64_t next_hop = parts.next_hops.word(pool.backends[hops.slot[0]].next_hop);
  const NextHop::State state = NextHops::state_of(next_hop);
  const std::uint8_t egress = NextHops::port_of(next_hop);
  if (state != NextHop::State::resolved || egress >= parts.ports.size) [[unlikely]]
    return state == NextHop::State::port_down ? Verdict::drop_port_down : Verdict::drop_next_hop_unresolved;
  // A router would send an unwrapped packet back to where its service address is announced.
  if (encapsulation == Encapsulation::l2 && NextHops::behind_router(next_hop))
    return Verdict::drop_next_hop_unresolved;
  const PortView& port = parts.ports.ports[egress];
  if (!port.link_up.load(std::memory_order_relaxed)) [[unlikely]]
    return Verdict::drop_port_down;
  const std::size_t mtu = port.mtu.load(std::memory_order_relaxed);
  way.next_hop = next_hop;
  way.egress = egress;
  way.outer_size = net::wrapping_size(encapsulation, outer, hops.count);
  way.room = mtu > way.outer_size ? mtu - way.outer_size : 0;
  return Verdict::forward;
}

// The source address; `spread` holds it where it depends on the flow.
[[gnu::always_inline]] inline const std::uint8_t* source_of(const SnapshotPool& pool, std::uint64_t hash,
                                                            std::array<std::uint8_t, 4>& spread) {
  if (pool.outer_source_spread == 0) [[likely]]
    return pool.outer_source.bytes.data();
  const auto bits = static_cast<std::uint32_t>(hash >> 32) & pool.outer_source_spread;
  net::store_be32(spread.data(), net::load_be32(pool.outer_source.bytes.data()) | bits);
  return spread.data();
}

// Everything in front of the inner packet of `length` bytes, for packet i. Inline, so that what it puts together stays
// in registers.
template <Encapsulation encapsulation, Family outer_family>
[[gnu::always_inline]] inline void write_frame(std::uint8_t* to, const Burst& burst, std::size_t i,
                                               const PortView& port, const Way& way, std::size_t length) {
  const SnapshotPool& pool = *burst.pool[i];
  const SnapshotBackend* backends = pool.backends.data();
  const HopList hops = burst.hops[i];
  const Packet& packet = burst.parsed[i];
  std::array<std::uint8_t, 4> spread;
  net::Wrapping wrapping;
  wrapping.encapsulation = encapsulation;
  net::GueOuter& outer = wrapping.outer;
  outer.ip = {.family = outer_family,
              .source = encapsulation == Encapsulation::gue ? pool.outer_source.bytes.data()
                                                            : source_of(pool, burst.hash[i], spread),
              .destination = backends[hops.slot[0]].address.bytes.data(),
              .tos = pool.copy_tos ? packet.tos : std::uint8_t{0},
              .flow_hash = burst.hash[i]};
  if (names_further_hops(encapsulation)) {
    // Where there is no further hop, nothing is read there.
    outer.further = {backends[hops.count > 1 ? hops.slot[1] : 0].address.bytes.data(),
                     backends[hops.count > 2 ? hops.slot[2] : 0].address.bytes.data()};
    outer.further_count = hops.count - std::size_t{1};
    outer.port = pool.gue_port;
  }
  outer.inner_family = packet.family;
  outer.inner_length = length;
  write_ethernet(to, way.next_hop, port, net::wrapping_ethertype(wrapping));
  net::write_wrapping(to + link_size(port), wrapping);
}

// RFC 768 and 8200: over the addresses, protocol and length, the UDP header, and all that follows. The frame stands
// finished in `mbuf`, the field 0.
[[gnu::noinline]] void write_udp_checksum(rte_mbuf& mbuf, std::size_t ip_offset, Family outer) {
  const std::size_t ip_size = net::ip_size(outer);
  auto* ip = rte_pktmbuf_mtod_offset(&mbuf, std::uint8_t*, ip_offset);
  const std::size_t addresses = outer == Family::ipv4 ? 8 : 32;
  std::uint8_t* udp = ip + ip_size;
  const std::uint16_t checksum = sum_of(mbuf, ip_offset + ip_size)
                                     .add({udp - addresses, addresses})
                                     .add(std::uint64_t{net::swap16(net::protocol_udp)})
                                     .add(std::uint64_t{net::load<std::uint16_t>(udp + 4)})
                                     .checksum();
  net::store<std::uint16_t>(udp + 6, checksum == 0 ? std::uint16_t{0xffff} : checksum);
}

// A packet that does not fit behind its outer headers and must not be fragmented. The sender is told where that helps
// and where it may be done: not about an ICMP error or a later fragment, nor to an address where nobody is, nor of less
// than IPv6's least MTU, which no host goes below (RFC 8201, 4).
[[gnu::noinline]] Verdict judge_too_big(TokenBucket& errors, std::uint32_t now_ms, Burst& burst,
                                        std::size_t i, std::size_t room) {
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
template <Encapsulation encapsulation, Family outer>
[[gnu::noinline]] Verdict wrap_in_pieces(const PipelineParts& parts, Burst& burst, std::size_t i,
                                         const PortView& port, const Way& way) {
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
    write_frame<encapsulation, outer>(frame, burst, i, port, way, length);
    if (encapsulation == Encapsulation::gue && burst.pool[i]->udp_checksum)
      write_udp_checksum(piece, link_size(port), outer);
  }
  rte_pktmbuf_free(burst.packets[i]);
  burst.packets[i] = pieces.mbufs[0];
  for (std::size_t p = 1; p < pieces.count; ++p) burst.add_further(i, pieces.mbufs[p]);
  return Verdict::forward;
}

// Wraps the packets from `first` on that are of the same pool; answers where that ends. A function of its own for each
// kind of pool, so that nothing is asked of a packet that its pool has decided.
template <Encapsulation encapsulation, Family outer>
std::size_t wrap_run(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst,
                     std::size_t first) {
  const SnapshotPool& pool = *burst.pool[first];
  const PortTable& ports = parts.ports;
  const auto wrap = [&](std::size_t i) {
    Way way;
    if (const Verdict verdict = find_way<encapsulation, outer>(parts, pool, burst.hops[i], way);
        verdict != Verdict::forward)
      return verdict;
    const PortView& port = ports.ports[way.egress];
    const Packet& packet = burst.parsed[i];
    burst.egress[i] = way.egress;
    if (packet.ip_length > way.room) [[unlikely]]
      return packet.dont_fragment ? judge_too_big(errors, now_ms, burst, i, way.room)
                                  : wrap_in_pieces<encapsulation, outer>(parts, burst, i, port, way);
    std::uint8_t* frame = reframe(burst.packets[i], packet, link_size(port) + way.outer_size, parts.mbufs);
    if (frame == nullptr) [[unlikely]]
      return Verdict::drop_no_buffer;
    write_frame<encapsulation, outer>(frame, burst, i, port, way, packet.ip_length);
    if (encapsulation == Encapsulation::gue && pool.udp_checksum) [[unlikely]]
      write_udp_checksum(*burst.packets[i], link_size(port), outer);
    return Verdict::forward;
  };
  std::size_t i = first;
  for (; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    if (burst.pool[i] != &pool) break;
    burst.verdict[i] = wrap(i);
  }
  return i;
}

using WrapRun = std::size_t (*)(const PipelineParts&, TokenBucket&, std::uint32_t, Burst&, std::size_t);

template <Encapsulation encapsulation>
WrapRun towards(Family outer) {
  return outer == Family::ipv4 ? wrap_run<encapsulation, Family::ipv4>
                               : wrap_run<encapsulation, Family::ipv6>;
}

WrapRun wrap_run_of(const SnapshotPool& pool) {
  const Family outer = pool.outer_source.family;
  switch (pool.encapsulation) {
    case Encapsulation::gue:
      return towards<Encapsulation::gue>(outer);
    case Encapsulation::ipip:
      return towards<Encapsulation::ipip>(outer);
    case Encapsulation::gre:
      return towards<Encapsulation::gre>(outer);
    case Encapsulation::l2:
      break;
  }
  return towards<Encapsulation::l2>(outer);
}

}  // namespace

void encapsulate(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst) {
  burst.further_count = 0;
  for (std::size_t i = 0; i < burst.size;) {
    if (burst.verdict[i] != Verdict::forward) {
      ++i;
      continue;
    }
    i = wrap_run_of(*burst.pool[i])(parts, errors, now_ms, burst, i);
  }
}

}  // namespace guideway::stages
