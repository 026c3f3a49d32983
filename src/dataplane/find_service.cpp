#include <algorithm>

#include "dataplane/stages.h"
#include "net/gue.h"

namespace guideway::stages {
namespace {

// The packet's bytes that lie in the first segment, from the IP header on.
std::span<const std::uint8_t> ip_bytes(const rte_mbuf& mbuf, const Packet& packet) {
  const std::size_t at_hand = mbuf.data_len - packet.ip_offset;
  return {rte_pktmbuf_mtod_offset(&mbuf, const std::uint8_t*, packet.ip_offset),
          std::min<std::size_t>(at_hand, packet.ip_length)};
}

bool is_service_address(const Snapshot& snapshot, std::span<const std::uint8_t> ip, Family family) {
  const std::size_t size = family == Family::ipv4 ? net::ipv4_size : net::ipv6_size;
  if (ip.size() < size || ip[0] >> 4 != static_cast<std::uint8_t>(family)) return false;
  return snapshot.lookup.find_address(family, net::destination_address(ip.data(), family)).kind !=
         ServiceMatch::Kind::not_ours;
}

bool is_gue_port(const Snapshot& snapshot, std::uint16_t port) {
  for (const auto& pool : snapshot.pools)
    if (pool->gue_port == port) return true;
  return false;
}

// What a director wrapped has a service's packet inside; one that comes to a service address again would go
// round for ever.
bool is_wrapped(const Snapshot& snapshot, std::span<const std::uint8_t> ip, const Packet& packet) {
  if (ip.size() < packet.l4_offset) return false;
  const auto payload = ip.subspan(packet.l4_offset);
  switch (packet.protocol) {
    case net::protocol_ipv4:
      return is_service_address(snapshot, payload, Family::ipv4);
    case net::protocol_ipv6:
      return is_service_address(snapshot, payload, Family::ipv6);
    case net::protocol_udp: {
      if (payload.size() < net::udp_size) return false;
      const auto gue = net::parse_gue(payload.subspan(net::udp_size));
      return gue &&
             is_service_address(snapshot, payload.subspan(net::udp_size + gue->size), gue->inner_family);
    }
    default:
      return false;
  }
}

// TCP and UDP with a sound header.
Verdict judge_ported(const Snapshot& snapshot, const rte_mbuf& mbuf, const Packet& packet,
                     ServiceMatch& match) {
  const auto ip = ip_bytes(mbuf, packet);
  match = snapshot.lookup.find(packet.family, net::destination_address(ip.data(), packet.family),
                               packet.protocol, packet.destination_port);
  if (match.kind == ServiceMatch::Kind::not_ours) return Verdict::kernel;
  if (packet.kind == PacketKind::udp && is_gue_port(snapshot, packet.destination_port) &&
      is_wrapped(snapshot, ip, packet)) [[unlikely]]
    return Verdict::drop_loop;
  if (match.kind == ServiceMatch::Kind::service) [[likely]]
    return Verdict::forward;
  return match.unmatched_drop ? Verdict::drop_unmatched : Verdict::kernel;
}

Verdict judge_rest(const Snapshot& snapshot, const rte_mbuf& mbuf, const Packet& packet,
                   ServiceMatch& match) {
  const auto ip = ip_bytes(mbuf, packet);
  match = snapshot.lookup.find_address(packet.family, net::destination_address(ip.data(), packet.family));
  if (match.kind == ServiceMatch::Kind::not_ours) return Verdict::kernel;
  if (packet.l4 != Verdict::forward) return packet.l4;
  if (packet.kind == PacketKind::fragment) return Verdict::drop_fragment;
  if (packet.kind == PacketKind::icmp) return Verdict::kernel;
  if (is_wrapped(snapshot, ip, packet)) return Verdict::drop_loop;
  return match.unmatched_drop ? Verdict::drop_unmatched : Verdict::kernel;
}

}  // namespace

void find_service(const Snapshot& snapshot, Burst& burst) {
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    const Packet& packet = burst.parsed[i];
    const bool ported = packet.kind == PacketKind::tcp || packet.kind == PacketKind::udp;
    ServiceMatch match;
    burst.verdict[i] = ported ? judge_ported(snapshot, *burst.packets[i], packet, match)
                              : judge_rest(snapshot, *burst.packets[i], packet, match);
    if (match.kind == ServiceMatch::Kind::not_ours) continue;
    burst.service[i] = &snapshot.services[match.service];
    burst.pool[i] = burst.service[i]->pool;
  }
}

}  // namespace guideway::stages
