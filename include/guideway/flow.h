// Flow: the key of a flow and its hash (routing contract 1, items 1 and 2).
// What: source address, destination address, source port, destination port, protocol, packed as on the wire:
//       13 bytes for IPv4, 37 for IPv6; hashed by XXH3_64bits_withSeed.
// Why:  every director must get the same number from the same packet.
// Not:  parsing; the data plane builds the same bytes straight from the packet, by the offsets below.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "guideway/address.h"

namespace guideway {

struct FlowTuple {
  IpAddress source;
  IpAddress destination;               // of the same family as source
  std::uint16_t source_port = 0;       // host order
  std::uint16_t destination_port = 0;  // host order
  std::uint8_t protocol = 0;           // 6 TCP, 17 UDP
  friend auto operator<=>(const FlowTuple&, const FlowTuple&) = default;
};

// Where the fields lie in a key whose addresses have `address_bytes` bytes (4 or 16); ports are big-endian.
struct FlowKeyLayout {
  std::size_t address_bytes;
  [[nodiscard]] constexpr std::size_t source() const { return 0; }
  [[nodiscard]] constexpr std::size_t destination() const { return address_bytes; }
  [[nodiscard]] constexpr std::size_t source_port() const { return 2 * address_bytes; }
  [[nodiscard]] constexpr std::size_t destination_port() const { return 2 * address_bytes + 2; }
  [[nodiscard]] constexpr std::size_t protocol() const { return 2 * address_bytes + 4; }
  [[nodiscard]] constexpr std::size_t size() const { return 2 * address_bytes + 5; }
};
inline constexpr FlowKeyLayout flow_key_ipv4{4};
inline constexpr FlowKeyLayout flow_key_ipv6{16};
static_assert(flow_key_ipv4.size() == 13 && flow_key_ipv6.size() == 37, "the sizes that contract 1 names");

struct FlowKey {
  std::array<std::uint8_t, flow_key_ipv6.size()> bytes{};
  std::size_t size = 0;  // 13 or 37
};

enum class Affinity : std::uint8_t {
  flow,    // the row hash is the flow hash
  client,  // the row hash is taken over the key with source port 0
};

[[nodiscard]] FlowKey flow_key(const FlowTuple& tuple);
[[nodiscard]] std::uint64_t flow_hash(const FlowKey& key, std::uint64_t seed);
[[nodiscard]] std::uint64_t flow_hash(const FlowTuple& tuple, std::uint64_t seed);
// The hash whose remainder by M is the row.
[[nodiscard]] std::uint64_t row_hash(const FlowTuple& tuple, std::uint64_t seed, Affinity affinity);

}  // namespace guideway
