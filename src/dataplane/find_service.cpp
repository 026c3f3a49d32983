#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "dataplane/stages.h"
#include "net/gre.h"
#include "net/gue.h"
#include "net/icmp.h"

namespace guideway::stages {
namespace {

// Room for the headers of a packet that lies in several segments: more than any chain that is judged here.
using Gathered = std::array<std::uint8_t, net::icmpv6_error_size_max>;

// The packet from its IP header on, contiguous: all of it, or as much as lies in the first segment or `gathered` holds.
std::span<const std::uint8_t> ip_bytes(const rte_mbuf& mbuf, const Packet& packet, Gathered& gathered) {
  const std::size_t at_hand = std::min<std::size_t>(mbuf.data_len - packet.ip_offset, packet.ip_length);
  if (at_hand == packet.ip_length || at_hand >= gathered.size())
    return {rte_pktmbuf_mtod_offset(&mbuf, const std::uint8_t*, packet.ip_offset), at_hand};
  const std::size_t size = std::min<std::size_t>(packet.ip_length, gathered.size());
  const void* bytes =
      rte_pktmbuf_read(&mbuf, packet.ip_offset, static_cast<std::uint32_t>(size), gathered.data());
  return {static_cast<const std::uint8_t*>(bytes), size};
}

bool is_service_address(const Snapshot& snapshot, std::span<const std::uint8_t> ip, Family family) {
  const std::size_t size = family == Family::ipv4 ? net::ipv4_size : net::ipv6_size;
  if (ip.size() < size || ip[0] >> 4 != static_cast<std::uint8_t>(family)) return false;
  return snapshot.lookup.find_address(family, net::destination_address(ip.data(), family)).kind !=
         ServiceMatch::Kind::not_ours;
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
    case net::protocol_gre: {
      const auto family = net::parse_gre(payload);
      return family && is_service_address(snapshot, payload.subspan(net::gre_size), *family);
    }
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
                     const KeyBytes& key, ServiceMatch& match) {
  match =
      snapshot.lookup.find(packet.family, key_destination(key, packet.family), key_door(key, packet.family));
  if (match.kind == ServiceMatch::Kind::not_ours) return Verdict::kernel;
  if (packet.kind == PacketKind::udp && packet.fragment_offset == 0 &&
      snapshot.gue_ports[packet.destination_port]) {
    Gathered gathered;
    if (is_wrapped(snapshot, ip_bytes(mbuf, packet, gathered), packet)) return Verdict::drop_loop;
  }
  if (match.kind == ServiceMatch::Kind::service) return Verdict::forward;
  return match.unmatched_drop ? Verdict::drop_unmatched : Verdict::kernel;
}

// An error about a packet of ours: it goes where the flow it quotes goes. The quoted packet went from the service
// address to the client, so its key is that of the flow with both sides changed over.
Verdict judge_icmp_error(const Snapshot& snapshot, std::span<const std::uint8_t> ip, const Packet& packet,
                         ServiceMatch& match, KeyBytes& key) {
  const auto quoted = ip.subspan(packet.l4_offset + net::icmp_size);
  Packet quote;
  if (!net::parse_quote(quoted, packet.family, quote)) return Verdict::drop_icmp_unknown_flow;
  const std::uint8_t* service = net::source_address(quoted.data(), packet.family);
  const std::size_t address_size = packet.family == Family::ipv4 ? 4 : 16;
  if (std::memcmp(service, net::destination_address(ip.data(), packet.family), address_size) != 0)
    return Verdict::drop_icmp_unknown_flow;
  const ServiceMatch found = snapshot.lookup.find(packet.family, service, quote.protocol, quote.source_port);
  if (found.kind != ServiceMatch::Kind::service) return Verdict::drop_icmp_unknown_flow;
  match = found;
  write_key(key, packet.family, net::destination_address(quoted.data(), packet.family), service,
            quote.destination_port, quote.source_port, quote.protocol);
  return Verdict::forward;
}

Verdict judge_icmp(const Snapshot& snapshot, std::span<const std::uint8_t> ip, Burst& burst, std::size_t i,
                   ServiceMatch& match) {
  const Packet& packet = burst.parsed[i];
  const std::uint8_t* icmp = ip.data() + packet.l4_offset;
  if (net::is_icmp_error(packet.family, icmp[0])) {
    burst.quoted |= 1U << i;
    return judge_icmp_error(snapshot, ip, packet, match, burst.key[i]);
  }
  if (!net::is_icmp_echo(packet.family, icmp[0], icmp[1])) return Verdict::kernel;
  switch (static_cast<Ping>(match.ping)) {
    case Ping::answer:
      burst.answer_mtu[i] = 0;
      return net::can_be_answered(packet.family, net::source_address(ip.data(), packet.family))
                 ? Verdict::answer
                 : Verdict::drop_icmp_malformed;
    case Ping::forward:
      return Verdict::forward;
    case Ping::kernel:
      break;
  }
  return Verdict::kernel;
}

// Nothing is put together here, so that a fragmented echo request can only be passed on; what it is, and whether an
// error, stands in its first fragment alone.
bool is_icmp_fragment(const Packet& packet) {
  return packet.kind == PacketKind::fragment &&
         packet.protocol == (packet.family == Family::ipv4 ? net::protocol_icmp : net::protocol_icmpv6);
}

Verdict judge_rest(const Snapshot& snapshot, Burst& burst, std::size_t i, ServiceMatch& match) {
  const Packet& packet = burst.parsed[i];
  Gathered gathered;
  const auto ip = ip_bytes(*burst.packets[i], packet, gathered);
  match = snapshot.lookup.find_address(packet.family, net::destination_address(ip.data(), packet.family));
  if (match.kind == ServiceMatch::Kind::not_ours) return Verdict::kernel;
  if (packet.l4 != Verdict::forward) return packet.l4;
  if (is_icmp_fragment(packet)) {
    switch (static_cast<Ping>(match.ping)) {
      case Ping::answer:
        return Verdict::drop_fragment;
      case Ping::forward:
        return Verdict::forward;
      case Ping::kernel:
        return Verdict::kernel;
    }
  }
  if (packet.kind == PacketKind::icmp) return judge_icmp(snapshot, ip, burst, i, match);
  if (is_wrapped(snapshot, ip, packet)) return Verdict::drop_loop;
  return match.unmatched_drop ? Verdict::drop_unmatched : Verdict::kernel;
}

void set_service(const Snapshot& snapshot, const ServiceMatch& match, Burst& burst, std::size_t i) {
  burst.service[i] = ServiceId(match.service);
  burst.pool[i] = snapshot.pools[match.pool].get();
}

// Any packet that is to be forwarded so far.
[[gnu::noinline]] void judge(const Snapshot& snapshot, Burst& burst, std::size_t i) {
  const Packet& packet = burst.parsed[i];
  const bool ported = packet.kind == PacketKind::tcp || packet.kind == PacketKind::udp;
  ServiceMatch match;
  burst.verdict[i] = ported ? judge_ported(snapshot, *burst.packets[i], packet, burst.key[i], match)
                            : judge_rest(snapshot, burst, i, match);
  if (match.kind != ServiceMatch::Kind::not_ours) set_service(snapshot, match, burst, i);
}

// The match where one look-up decides, which is so for nearly every packet; else nullptr.
[[gnu::always_inline]] inline const ServiceMatch* find_plain(const Snapshot& snapshot, const Packet& packet,
                                                             const KeyBytes& key) {
  if (packet.kind != PacketKind::tcp) [[unlikely]] {
    if (packet.kind != PacketKind::udp || snapshot.gue_ports[packet.destination_port]) return nullptr;
  }
  return snapshot.lookup.find_exact(packet.family, key_destination(key, packet.family),
                                    key_door(key, packet.family));
}

}  // namespace

void find_service(const Snapshot& snapshot, Burst& burst) {
  for (std::size_t i = 0; i < burst.size; ++i) {
    const bool undecided = burst.verdict[i] == Verdict::forward;
    if (undecided) [[likely]] {
      const ServiceMatch* match = find_plain(snapshot, burst.parsed[i], burst.key[i]);
      if (match != nullptr) [[likely]] {
        set_service(snapshot, *match, burst, i);
        continue;
      }
    }
    burst.service[i] = no_service;
    burst.pool[i] = nullptr;
    if (undecided) judge(snapshot, burst, i);
  }
}

}  // namespace guideway::stages
