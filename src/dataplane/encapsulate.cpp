#include <cstring>

#include "dataplane/frame.h"
#include "dataplane/split.h"
#include "dataplane/stages.h"
#include "net/icmp.h"
#include "net/wrapping.h"

namespace guideway::stages {
namespace {

// A port as frames leave by it, at hand for as many packets in a row as do.
struct Egress {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  Verdict verdict = Verdict::forward;  // else the reason why there is no way
  std::uint64_t way = none;            // way_of the next hops that are reached so
  std::uint8_t port = 0;
  std::size_t mtu = 0;
  std::size_t plain_max = 0;  // of packets with their outer IP header: what wrap_run wraps itself
  Link link;
};

[[nodiscard]] bool has_udp_checksum(const SnapshotPool& pool) {
  return pool.encapsulation == Encapsulation::gue && pool.udp_checksum;
}

// What a next hop says beside the MAC: never Egress::none.
[[nodiscard]] constexpr std::uint64_t way_of(std::uint64_t next_hop) { return next_hop >> 48; }

// By value: what is written into a frame could be an Egress whose address is known elsewhere, for all that the compiler
// knows.
[[gnu::noinline]] Egress find_egress(const PortTable& ports, std::uint64_t next_hop,
                                     const SnapshotPool& pool) {
  const NextHop::State state = NextHops::state_of(next_hop);
  const std::uint8_t number = NextHops::port_of(next_hop);
  if (state != NextHop::State::resolved || number >= ports.size)
    return {state == NextHop::State::port_down ? Verdict::drop_port_down : Verdict::drop_next_hop_unresolved};
  // A router would send an unwrapped packet back to where its service address is announced.
  if (pool.encapsulation == Encapsulation::l2 && NextHops::behind_router(next_hop))
    return {Verdict::drop_next_hop_unresolved};
  const PortView& port = ports.ports[number];
  if (!port.link_up.load(std::memory_order_relaxed)) return {Verdict::drop_port_down};
  const std::size_t mtu = port.mtu.load(std::memory_order_relaxed);
  return {Verdict::forward,
          way_of(next_hop),
          number,
          mtu,
          has_udp_checksum(pool) ? 0 : mtu,
          Link(port, net::ethertype_of(pool.outer_source.family))};
}

// What a pool gives to all its frames, out of reach of what is written into them.
template <Encapsulation encapsulation, Family outer>
struct PoolOuter {
  explicit PoolOuter(const SnapshotPool& pool)
      : backends(pool.backends.data()),
        spread(pool.outer_source_spread),
        tos_mask(pool.copy_tos ? 0xff : 0),
        gue_ports(net::gue_ports(pool.gue_port)) {
    std::memcpy(source.data(), pool.outer_source.bytes.data(), source.size());
  }

  [[nodiscard, gnu::always_inline]] const std::uint8_t* address(MemberIndex slot) const {
    return backends[slot].address.bytes.data();
  }

  const SnapshotBackend* backends;
  std::array<std::uint8_t, outer == Family::ipv4 ? 4 : 16> source;
  std::uint32_t spread;  // IPv4, not GUE: the bits of the source that the flow decides, host order
  std::uint8_t tos_mask;
  std::uint32_t gue_ports;
};

// What the outer headers of a packet are made of. Held by value: what is written into a frame could be part of the burst,
// for all that the compiler knows, so that it would be read again behind it.
struct Inner {
  HopList hops;
  std::uint64_t hash = 0;
  std::size_t length = 0;  // of the inner packet
  Family family = Family::ipv4;
  std::uint8_t tos = 0;
};

[[nodiscard, gnu::always_inline]] inline Inner inner_of(const Burst& burst, std::size_t i) {
  const Packet& packet = burst.parsed[i];
  return {burst.hops[i], burst.hash[i], packet.ip_length, packet.family, packet.tos};
}

// Everything in front of the inner packet.
template <Encapsulation encapsulation, Family outer_family>
[[gnu::always_inline]] inline void write_frame(std::uint8_t* to, Inner inner, std::uint64_t next_hop,
                                               const PoolOuter<encapsulation, outer_family>& pool,
                                               const Link& link) {
  const HopList hops = inner.hops;
  const std::uint64_t hash = inner.hash;
  auto source = pool.source;
  if (encapsulation != Encapsulation::gue && outer_family == Family::ipv4 && pool.spread != 0) {
    const auto bits = static_cast<std::uint32_t>(hash >> 32) & pool.spread;
    net::store(source.data(), net::load<std::uint32_t>(source.data()) | net::swap32(bits));
  }
  net::Wrapping wrapping;
  wrapping.encapsulation = encapsulation;
  net::GueOuter& outer = wrapping.outer;
  outer.ip = {.family = outer_family,
              .source = source.data(),
              .destination = pool.address(hops.slot(0)),
              .tos = static_cast<std::uint8_t>(inner.tos & pool.tos_mask),
              .flow_hash = hash};
  if (names_further_hops(encapsulation)) {
    outer.further_count = hops.count() - 1;
    outer.ports = pool.gue_ports;
  }
  outer.inner_family = inner.family;
  outer.inner_length = inner.length;
  write_ethernet(to, next_hop, link);
  if (encapsulation == Encapsulation::l2)
    net::store_be16(to + link.size - 2, net::wrapping_ethertype(wrapping));
  net::write_wrapping(to + link.size, wrapping,
                      [&](std::size_t n) { return pool.address(hops.slot(1 + n)); });
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
Verdict wrap_in_pieces(const PipelineParts& parts, Burst& burst, std::size_t i, const Egress& egress,
                       std::uint64_t next_hop, std::size_t room) {
  if (burst.pool[i]->too_big == TooBig::drop) return Verdict::drop_too_big;
  Pieces pieces;
  if (const Verdict verdict = split(*burst.packets[i], burst.parsed[i], room, parts.mbufs, pieces);
      verdict != Verdict::forward)
    return verdict;
  if (!burst.has_room_for(pieces.count - std::size_t{1})) {
    pieces.free();
    return Verdict::drop_too_big;
  }
  const PoolOuter<encapsulation, outer> pool(*burst.pool[i]);
  Inner inner = inner_of(burst, i);
  const auto headers = static_cast<std::uint16_t>(
      egress.link.size + net::wrapping_size(encapsulation, outer, inner.hops.count()));
  for (std::size_t p = 0; p < pieces.count; ++p) {
    rte_mbuf& piece = *pieces.mbufs[p];
    inner.length = piece.pkt_len;
    auto* frame = reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(&piece, headers));
    write_frame(frame, inner, next_hop, pool, egress.link);
    if (has_udp_checksum(*burst.pool[i])) write_udp_checksum(piece, egress.link.size, outer);
  }
  rte_pktmbuf_free(burst.packets[i]);
  burst.packets[i] = pieces.mbufs[0];
  for (std::size_t p = 1; p < pieces.count; ++p) burst.add_further(i, pieces.mbufs[p]);
  return Verdict::forward;
}

// Any packet with a way: too big for it, in an mbuf that is in several segments, shared or without the room, or of a pool
// with checksums.
template <Encapsulation encapsulation, Family outer>
[[gnu::noinline]] Verdict wrap_any(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms,
                                   Burst& burst, std::size_t i, Egress egress, std::uint64_t next_hop) {
  const Inner inner = inner_of(burst, i);
  const std::size_t outer_size = net::wrapping_size(encapsulation, outer, inner.hops.count());
  if (inner.length + outer_size > egress.mtu) {
    const std::size_t room = egress.mtu > outer_size ? egress.mtu - outer_size : 0;
    return burst.parsed[i].dont_fragment()
               ? judge_too_big(errors, now_ms, burst, i, room)
               : wrap_in_pieces<encapsulation, outer>(parts, burst, i, egress, next_hop, room);
  }
  std::uint8_t* frame =
      reframe(burst.packets[i], burst.parsed[i], egress.link.size + outer_size, parts.mbufs);
  if (frame == nullptr) return Verdict::drop_no_buffer;
  const SnapshotPool& pool = *burst.pool[i];
  write_frame(frame, inner, next_hop, PoolOuter<encapsulation, outer>(pool), egress.link);
  if (has_udp_checksum(pool)) write_udp_checksum(*burst.packets[i], egress.link.size, outer);
  return Verdict::forward;
}

// Wraps the packets from `first` on that are of the same pool; answers where that ends. A function of its own for each
// kind of pool, so that nothing is asked of a packet that its pool has decided. What is rare is a call after which a packet
// begins anew or is done, so that nothing need be kept for it.
template <Encapsulation encapsulation, Family outer>
std::size_t wrap_run(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst,
                     std::size_t first) {
  const SnapshotPool* of = burst.pool[first];
  const PoolOuter<encapsulation, outer> pool(*of);
  const NextHops::View next_hops = parts.next_hops.view();
  Egress egress;
  const std::size_t size = burst.size;
  std::size_t i = first;
  while (i < size) {
    if (burst.verdict[i] != Verdict::forward) {
      ++i;
      continue;
    }
    if (burst.pool[i] != of) break;
    const Inner inner = inner_of(burst, i);
    const std::uint64_t next_hop = next_hops.word(pool.backends[inner.hops.slot(0)].next_hop);
    if (way_of(next_hop) != egress.way) [[unlikely]] {
      egress = find_egress(parts.ports, next_hop, *of);
      burst.verdict[i] = egress.verdict;
      if (egress.verdict == Verdict::forward) burst.egress_ports |= 1U << egress.port;
      continue;
    }
    burst.egress[i] = egress.port;
    const std::size_t outer_size = net::wrapping_size(encapsulation, outer, inner.hops.count());
    std::uint8_t* frame = inner.length + outer_size <= egress.plain_max
                              ? reframe_plain(*burst.packets[i], burst.parsed[i].ip_offset, inner.length,
                                              egress.link.size + outer_size)
                              : nullptr;
    if (frame != nullptr) [[likely]] {
      write_frame(frame, inner, next_hop, pool, egress.link);
    } else {
      burst.verdict[i] = wrap_any<encapsulation, outer>(parts, errors, now_ms, burst, i, egress, next_hop);
    }
    ++i;
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
  burst.egress_ports = 0;
  for (std::size_t i = 0; i < burst.size;) {
    if (burst.verdict[i] != Verdict::forward) {
      ++i;
      continue;
    }
    i = wrap_run_of(*burst.pool[i])(parts, errors, now_ms, burst, i);
  }
}

}  // namespace guideway::stages
