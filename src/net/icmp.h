// ICMP: types, and the IP header of the messages that we make.
// Why:  a message of ours is a packet of its own: nothing of the id, flags, TOS or TTL of what it answers gets into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "guideway/address.h"
#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/protocols.h"

namespace guideway::net {

inline constexpr std::uint8_t icmp_echo_reply = 0, icmp_unreachable = 3, icmp_echo = 8,
                              icmp_time_exceeded = 11, icmp_parameter_problem = 12,
                              icmp_fragmentation_needed = 4 /* code of type 3 */;
inline constexpr std::uint8_t icmpv6_packet_too_big = 2, icmpv6_errors_last = 4, icmpv6_echo = 128,
                              icmpv6_echo_reply = 129;
// A message never makes the packet that it travels in longer than this (RFC 1812, 4.3.2.3; RFC 4443, 2.4).
inline constexpr std::size_t icmp_error_size_max = 576, icmpv6_error_size_max = 1280;

// The errors that follow the flow they quote.
[[nodiscard]] constexpr bool is_icmp_error(Family family, std::uint8_t type) {
  if (family == Family::ipv6) return type >= 1 && type <= icmpv6_errors_last;
  return type == icmp_unreachable || type == icmp_time_exceeded || type == icmp_parameter_problem;
}
[[nodiscard]] constexpr bool is_icmp_echo(Family family, std::uint8_t type, std::uint8_t code) {
  return type == (family == Family::ipv4 ? icmp_echo : icmpv6_echo) && code == 0;
}

// Whether somebody can be at this address to read an answer.
[[nodiscard]] inline bool can_be_answered(Family family, const std::uint8_t* source) {
  if (family == Family::ipv4) return source[0] != 0 && source[0] != 127 && source[0] < 224;
  if (source[0] == 0xff) return false;
  static constexpr std::uint8_t zeros[15]{};
  return std::memcmp(source, zeros, sizeof zeros) != 0 || source[15] > 1;  // :: and ::1
}

[[nodiscard]] constexpr std::size_t icmp_ip_size(Family family) {
  return family == Family::ipv4 ? ipv4_size : ipv6_size;
}

// icmp_ip_size() bytes at `to`, for an ICMP message of `length` bytes behind them.
inline void write_icmp_ip(std::uint8_t* to, Family family, const std::uint8_t* source,
                          const std::uint8_t* destination, std::size_t length) {
  if (family == Family::ipv6) {
    store_be32(to, 6U << 28);
    store_be32(to + 4,
               static_cast<std::uint32_t>(length) << 16 | std::uint32_t{protocol_icmpv6} << 8 | outer_ttl);
    std::memcpy(to + 8, source, 16);
    std::memcpy(to + 24, destination, 16);
    return;
  }
  store_be32(to, 0x45000000U | static_cast<std::uint32_t>(ipv4_size + length));
  store_be32(to + 4, 0x00004000U);  // id 0, DF
  store_be32(to + 8, std::uint32_t{outer_ttl} << 24 | std::uint32_t{protocol_icmp} << 16);
  std::memcpy(to + 12, source, 4);
  std::memcpy(to + 16, destination, 4);
  store(to + 10, ChecksumSum{}.add({to, ipv4_size}).checksum());
}

// The part of an ICMPv6 checksum that stands for the IP header; nothing for ICMP.
[[nodiscard]] inline ChecksumSum icmp_pseudo_header(Family family, const std::uint8_t* ip,
                                                    std::size_t length) {
  ChecksumSum sum;
  if (family == Family::ipv6)
    sum.add({ip + 8, 32}).add(swap32(static_cast<std::uint32_t>(length))).add(swap32(protocol_icmpv6));
  return sum;
}

}  // namespace guideway::net
