#include <cstring>

#include "dataplane/frame.h"
#include "dataplane/stages.h"
#include "net/ethernet.h"
#include "net/gue.h"
#include "net/icmp.h"

namespace guideway::stages {
namespace {

// What is prepended to one packet.
struct Wrapping {
  const SnapshotPool& pool;
  const HopList& hops;
  const Packet& packet;
  std::uint64_t hash;
  std::size_t outer_size;
};

void write_outer(std::uint8_t* to, const Wrapping& wrapping) {
  const auto& backends = wrapping.pool.backends;
  const HopList& hops = wrapping.hops;
  net::GueOuter outer;
  outer.family = wrapping.pool.outer_source.family;
  outer.source = wrapping.pool.outer_source.bytes.data();
  outer.destination = backends[hops.slot[0]].address.bytes.data();
  for (std::size_t i = 1; i < hops.count; ++i)
    outer.further[i - 1] = backends[hops.slot[i]].address.bytes.data();
  outer.further_count = hops.count - std::size_t{1};
  outer.port = wrapping.pool.gue_port;
  outer.tos = wrapping.pool.copy_tos ? wrapping.packet.tos : std::uint8_t{0};
  outer.flow_hash = wrapping.hash;
  outer.inner_family = wrapping.packet.family;
  outer.inner_length = wrapping.packet.ip_length;
  net::write_gue_outer(to, outer);
}

// A packet that does not fit behind its outer headers. The sender is told where that helps and where it may be done:
// not about an ICMP error, nor to an address where nobody is, nor of less than IPv6's least MTU, which no host goes
// below (RFC 8201, 4).
Verdict judge_too_big(TokenBucket& errors, std::uint32_t now_ms, Burst& burst, std::size_t i,
                      std::size_t room) {
  const Packet& packet = burst.parsed[i];
  if (!packet.dont_fragment || (burst.quoted >> i & 1) != 0) return Verdict::drop_too_big;
  if (packet.family == Family::ipv6 && room < net::ipv6_mtu_min) return Verdict::drop_too_big;
  const auto* ip = rte_pktmbuf_mtod_offset(burst.packets[i], const std::uint8_t*, packet.ip_offset);
  if (!net::can_be_answered(packet.family, net::source_address(ip, packet.family)))
    return Verdict::drop_too_big;
  if (!errors.take(now_ms)) return Verdict::drop_too_big;
  burst.answer_mtu[i] = static_cast<std::uint16_t>(room);
  return Verdict::answer;
}

Verdict wrap(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst,
             std::size_t i) {
  const SnapshotPool& pool = *burst.pool[i];
  const HopList& hops = burst.hops[i];
  const Packet& packet = burst.parsed[i];
  const NextHop next_hop = parts.next_hops.get(pool.backends[hops.slot[0]].next_hop);
  if (next_hop.state == NextHop::State::port_down) return Verdict::drop_port_down;
  if (next_hop.state != NextHop::State::resolved || next_hop.port >= parts.ports.size)
    return Verdict::drop_next_hop_unresolved;
  const PortView& port = parts.ports.ports[next_hop.port];
  if (!port.link_up.load(std::memory_order_relaxed)) return Verdict::drop_port_down;

  const Family family = pool.outer_source.family;
  const std::size_t outer_size = net::gue_outer_size(family, hops.count - std::size_t{1});
  const std::size_t mtu = port.mtu.load(std::memory_order_relaxed);
  if (outer_size + packet.ip_length > mtu) [[unlikely]]
    return mtu <= outer_size ? Verdict::drop_too_big
                             : judge_too_big(errors, now_ms, burst, i, mtu - outer_size);

  const std::size_t l2_size = link_size(port);
  std::uint8_t* frame = reframe(burst.packets[i], packet, l2_size + outer_size, parts.mbufs);
  if (frame == nullptr) return Verdict::drop_no_buffer;
  write_ethernet(frame, next_hop.mac, port,
                 family == Family::ipv4 ? net::ethertype_ipv4 : net::ethertype_ipv6);
  write_outer(frame + l2_size, {pool, hops, packet, burst.hash[i], outer_size});
  burst.egress[i] = next_hop.port;
  return Verdict::forward;
}

}  // namespace

void encapsulate(const PipelineParts& parts, TokenBucket& errors, std::uint32_t now_ms, Burst& burst) {
  for (std::size_t i = 0; i < burst.size; ++i)
    if (burst.verdict[i] == Verdict::forward) burst.verdict[i] = wrap(parts, errors, now_ms, burst, i);
}

}  // namespace guideway::stages
