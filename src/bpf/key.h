// Key: addresses and prefixes as keys of the programs' maps.
// Not:  reading them from packets, which the programs do themselves (address.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "bpf/abi.h"
#include "guideway/address.h"

namespace guideway {

inline constexpr std::size_t mapped_bytes = 12;  // of ::ffff:a.b.c.d, before the IPv4 address
inline constexpr std::uint32_t mapped_bits = mapped_bytes * 8;

[[nodiscard]] inline gw_address map_key(const IpAddress& address) {
  std::array<std::uint8_t, sizeof(gw_address)> bytes{};
  if (address.family == Family::ipv4) {
    bytes[10] = bytes[11] = 0xff;
    std::copy_n(address.bytes.begin(), 4, bytes.begin() + mapped_bytes);
  } else {
    bytes = address.bytes;
  }
  gw_address key{};
  std::memcpy(&key, bytes.data(), sizeof(key));
  return key;
}

[[nodiscard]] inline gw_prefix map_key(const IpAddress& address, std::uint8_t length) {
  return {(address.family == Family::ipv4 ? mapped_bits : 0) + length, map_key(address)};
}

}  // namespace guideway
