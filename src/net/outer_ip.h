// Outer IP: the IP header of what a director sends, whatever tunnel header or packet comes behind it.
// What: IPv4 with DF, TTL 64, id 0; IPv6 with a flow label from the flow hash, hop limit 64. DSCP and ECN as given
//       (RFC 6040: copied from the inner header, unless the pool says zero).
// Cost: a few full-width stores; the IPv4 checksum is summed from the words that are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "guideway/address.h"
#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/protocols.h"

namespace guideway::net {

struct OuterIp {
  Family family = Family::ipv4;          // of both addresses
  const std::uint8_t* source = nullptr;  // 4 or 16 bytes
  const std::uint8_t* destination = nullptr;
  std::uint8_t tos = 0;
  std::uint64_t flow_hash = 0;
};

[[nodiscard]] constexpr std::size_t ip_size(Family family) {
  return family == Family::ipv4 ? ipv4_size : ipv6_size;
}
[[nodiscard]] constexpr std::uint8_t protocol_of(Family inner) {
  return inner == Family::ipv4 ? protocol_ipv4 : protocol_ipv6;
}

// Bits 63..44 of the flow hash, never 0.
[[nodiscard]] constexpr std::uint32_t outer_flow_label(std::uint64_t flow_hash) {
  const auto label = static_cast<std::uint32_t>(flow_hash >> 44);
  return label == 0 ? 1 : label;
}

// 20 bytes at `to`, for `payload` bytes behind them; where those begin.
[[gnu::always_inline]] inline std::uint8_t* write_outer_ipv4(std::uint8_t* to, const OuterIp& outer,
                                                             std::uint8_t protocol, std::size_t payload) {
  const std::uint16_t length = swap16(static_cast<std::uint16_t>(ipv4_size + payload));
  const std::uint32_t word0 = 0x45U | std::uint32_t{outer.tos} << 8 | std::uint32_t{length} << 16;
  constexpr std::uint32_t word1 = std::uint32_t{swap16(0x4000)} << 16;  // id 0, DF
  const std::uint32_t word2 = outer_ttl | std::uint32_t{protocol} << 8;
  const auto source = load<std::uint32_t>(outer.source);
  const auto destination = load<std::uint32_t>(outer.destination);
  const std::uint16_t checksum =
      ChecksumSum{}.add(word0).add(word1).add(word2).add(source).add(destination).checksum();
  store(to, word0 | std::uint64_t{word1} << 32);
  store(to + 8, std::uint64_t{word2} | std::uint64_t{checksum} << 16 | std::uint64_t{source} << 32);
  store(to + 16, destination);
  return to + ipv4_size;
}

// 40 bytes, likewise.
[[gnu::always_inline]] inline std::uint8_t* write_outer_ipv6(std::uint8_t* to, const OuterIp& outer,
                                                             std::uint8_t protocol, std::size_t payload) {
  const std::uint32_t word0 =
      swap32(6U << 28 | std::uint32_t{outer.tos} << 20 | outer_flow_label(outer.flow_hash));
  const std::uint32_t word1 =
      swap32(static_cast<std::uint32_t>(payload) << 16 | std::uint32_t{protocol} << 8 | outer_ttl);
  store(to, std::uint64_t{word0} | std::uint64_t{word1} << 32);
  std::memcpy(to + 8, outer.source, 16);
  std::memcpy(to + 24, outer.destination, 16);
  return to + ipv6_size;
}

[[gnu::always_inline]] inline std::uint8_t* write_outer_ip(std::uint8_t* to, const OuterIp& outer,
                                                           std::uint8_t protocol, std::size_t payload) {
  return outer.family == Family::ipv4 ? write_outer_ipv4(to, outer, protocol, payload)
                                      : write_outer_ipv6(to, outer, protocol, payload);
}

}  // namespace guideway::net
