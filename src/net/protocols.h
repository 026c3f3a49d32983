// Protocols: sizes and numbers of the headers that packets are made of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guideway::net {

inline constexpr std::uint8_t protocol_hop_by_hop = 0, protocol_icmp = 1, protocol_ipv4 = 4, protocol_tcp = 6,
                              protocol_udp = 17, protocol_ipv6 = 41, protocol_routing = 43,
                              protocol_fragment = 44, protocol_gre = 47, protocol_icmpv6 = 58,
                              protocol_destination_options = 60;
inline constexpr std::size_t ipv4_size = 20, ipv6_size = 40, tcp_size = 20, udp_size = 8, icmp_size = 8,
                             ipv6_fragment_size = 8, gre_size = 4;
inline constexpr std::size_t ipv6_mtu_min = 1280;  // RFC 8200, 5
inline constexpr std::uint8_t outer_ttl = 64;

}  // namespace guideway::net
