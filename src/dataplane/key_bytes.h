// Key bytes: the flow key (routing contract 1, item 1) as the data plane builds it from a packet.
// Why:  full-width stores, so that the hash's wide loads do not wait for partial ones.
// Thread: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "guideway/address.h"
#include "net/byte_order.h"

namespace guideway {

// 13 or 37 bytes; what lies behind them is undefined.
struct alignas(8) KeyBytes {
  std::array<std::uint8_t, 40> bytes;
};

// Bytes of both addresses; the ports lie behind them, then the protocol.
[[nodiscard]] constexpr std::size_t key_addresses_size(Family family) {
  return family == Family::ipv4 ? 8 : 32;
}

// Ports in host order. `source` and `destination` are 4 or 16 bytes each.
inline void write_key(KeyBytes& key, Family family, const std::uint8_t* source,
                      const std::uint8_t* destination, std::uint16_t source_port,
                      std::uint16_t destination_port, std::uint8_t protocol) {
  const std::uint64_t ports_and_protocol = std::uint64_t{net::swap16(source_port)} |
                                           std::uint64_t{net::swap16(destination_port)} << 16 |
                                           std::uint64_t{protocol} << 32;
  std::uint8_t* to = key.bytes.data();
  if (family == Family::ipv4) {
    net::store(to, std::uint64_t{net::load<std::uint32_t>(source)} |
                       std::uint64_t{net::load<std::uint32_t>(destination)} << 32);
    net::store(to + 8, ports_and_protocol);
  } else {
    std::memcpy(to, source, 16);
    std::memcpy(to + 16, destination, 16);
    net::store(to + 32, ports_and_protocol);
  }
}

// The same from a packet whose addresses lie side by side, the source first, as they do in an IP header, and whose ports
// do at the beginning of `l4`.
[[gnu::always_inline]] inline void write_key(KeyBytes& key, Family family, const std::uint8_t* addresses,
                                             const std::uint8_t* l4, std::uint8_t protocol) {
  const std::size_t size = key_addresses_size(family);
  std::memcpy(key.bytes.data(), addresses, size);
  net::store(key.bytes.data() + size,
             std::uint64_t{net::load<std::uint32_t>(l4)} | std::uint64_t{protocol} << 32);
}

// Where the destination address lies.
[[nodiscard]] inline const std::uint8_t* key_destination(const KeyBytes& key, Family family) {
  return key.bytes.data() + key_addresses_size(family) / 2;
}

// Destination port and protocol, as ServiceTable::door_of puts them together.
[[nodiscard]] inline std::uint32_t key_door(const KeyBytes& key, Family family) {
  return static_cast<std::uint32_t>(net::load<std::uint64_t>(key.bytes.data() + key_addresses_size(family)) >>
                                    16);
}

[[nodiscard]] inline std::uint8_t key_protocol(const KeyBytes& key, Family family) {
  return key.bytes[key_addresses_size(family) + 4];
}

}  // namespace guideway
