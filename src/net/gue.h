// GUE: the outer headers of a wrapped packet (design section 3; routing contract 1).
// What: writes IPv4 or IPv6, UDP and the GUE header with its hop list; reads the GUE header back.
// Not:  Ethernet, the choice of hops, ECN on the way out of the tunnel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "guideway/address.h"
#include "net/byte_order.h"
#include "net/outer_ip.h"
#include "net/protocols.h"

namespace guideway::net {

inline constexpr std::size_t gue_hops_further_max = 2;
inline constexpr std::size_t gue_size = 8;  // fixed and private header, before the hops

// The bits of the source port that the flow decides.
[[nodiscard]] constexpr std::uint16_t gue_flow_bits(std::uint64_t flow_hash) {
  return static_cast<std::uint16_t>(flow_hash >> 50);
}
[[nodiscard]] constexpr std::uint16_t gue_source_port(std::uint64_t flow_hash) {
  return 0xc000 | gue_flow_bits(flow_hash);
}
// Both ports as they lie in the packet, but for the flow's bits; `destination` in host order.
[[nodiscard]] constexpr std::uint32_t gue_ports(std::uint16_t destination) {
  return swap16(gue_source_port(0)) | std::uint32_t{swap16(destination)} << 16;
}

struct GueOuter {
  OuterIp ip;
  std::size_t further_count = 0;  // hops after ip.destination, of its family; at most gue_hops_further_max
  std::uint32_t ports = gue_ports(19523);
  Family inner_family = Family::ipv4;
  std::size_t inner_length = 0;  // gue_outer_size() + inner_length <= 65535
};

// Bytes before the inner packet.
[[nodiscard]] constexpr std::size_t gue_outer_size(Family family, std::size_t further_count) {
  return ip_size(family) + udp_size + gue_size + (family == Family::ipv4 ? 4 : 16) * further_count;
}

// What stands in front of the hops. Version 0, C 0, header length in words behind the first: private word and hops;
// then the private word: type 0 for IPv4 hops, 1 for IPv6 ones; next hop 0.
[[nodiscard]] constexpr std::uint64_t gue_words(Family hops, std::size_t further_count, Family inner) {
  const std::uint64_t none = std::uint64_t{1} | std::uint64_t{protocol_of(inner)} << 8 |
                             (hops == Family::ipv4 ? std::uint64_t{0} : std::uint64_t{1} << 40);
  const std::uint64_t each = (hops == Family::ipv4 ? 1 : 4) | std::uint64_t{1} << 56;
  return none + each * further_count;  // as they lie in memory: byte 0 lowest
}

// Writes gue_outer_size() bytes at `to`. `further(n)` is the address of hop n behind the first one, and is only asked
// for those that there are.
template <class Further>
[[gnu::always_inline]] inline void write_gue_outer(std::uint8_t* to, const GueOuter& outer,
                                                   const Further& further) {
  const Family family = outer.ip.family;
  const std::size_t size = udp_size + gue_size + outer.inner_length;
  const std::uint32_t ports = outer.ports | swap16(gue_flow_bits(outer.ip.flow_hash));
  const auto write_udp = [&](std::uint8_t* udp, std::size_t udp_length) {
    store(udp, std::uint64_t{ports} | std::uint64_t{swap16(static_cast<std::uint16_t>(udp_length))} << 32);
    store(udp + udp_size, gue_words(family, outer.further_count, outer.inner_family));
    return udp + udp_size + gue_size;
  };
  if (family == Family::ipv4) {
    const std::size_t udp_length = size + 4 * outer.further_count;
    std::uint8_t* hop = write_udp(write_outer_ipv4(to, outer.ip, protocol_udp, udp_length), udp_length);
    if (outer.further_count > 0) [[likely]]
      store(hop, load<std::uint32_t>(further(0)));
    if (outer.further_count > 1) store(hop + 4, load<std::uint32_t>(further(1)));
    return;
  }
  const std::size_t udp_length = size + 16 * outer.further_count;
  std::uint8_t* hop = write_udp(write_outer_ipv6(to, outer.ip, protocol_udp, udp_length), udp_length);
  if (outer.further_count > 0) std::memcpy(hop, further(0), 16);
  if (outer.further_count > 1) std::memcpy(hop + 16, further(1), 16);
}

struct GueHeader {
  Family inner_family = Family::ipv4;
  Family hop_family = Family::ipv4;
  std::uint8_t next_hop = 0, hop_count = 0;
  std::size_t size = 0;  // from the GUE header's start to the inner packet
};

// The GUE header at the start of a UDP payload, when it is one of a director: version 0, our private types, a
// hop count that the header length holds.
[[nodiscard]] inline std::optional<GueHeader> parse_gue(std::span<const std::uint8_t> payload) {
  if (payload.size() < gue_size) return std::nullopt;
  const std::uint8_t* gue = payload.data();
  const std::uint16_t private_type = load_be16(gue + 4);
  if ((gue[0] & 0xe0) != 0 || load_be16(gue + 2) != 0 || private_type > 1) return std::nullopt;
  if (gue[1] != protocol_ipv4 && gue[1] != protocol_ipv6) return std::nullopt;
  GueHeader header;
  header.inner_family = gue[1] == protocol_ipv4 ? Family::ipv4 : Family::ipv6;
  header.hop_family = private_type == 0 ? Family::ipv4 : Family::ipv6;
  header.next_hop = gue[6];
  header.hop_count = gue[7];
  header.size = 4 + std::size_t{gue[0]} % 32 * 4;
  const std::size_t hop_size = private_type == 0 ? 4 : 16;
  if (header.size != gue_size + hop_size * header.hop_count || header.size > payload.size())
    return std::nullopt;
  return header;
}

}  // namespace guideway::net
