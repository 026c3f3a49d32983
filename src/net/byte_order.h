// Byte order: numbers in packets. Loads and stores of any alignment; `be` numbers are in network order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace guideway::net {

static_assert(std::endian::native == std::endian::little, "the data plane is written for x86-64 and arm64");

[[nodiscard]] constexpr std::uint16_t swap16(std::uint16_t value) { return __builtin_bswap16(value); }
[[nodiscard]] constexpr std::uint32_t swap32(std::uint32_t value) { return __builtin_bswap32(value); }

// As the bytes lie in memory.
template <class T>
[[nodiscard]] inline T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
inline void store(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

// Host order of a number that lies there in network order, and back.
[[nodiscard]] inline std::uint16_t load_be16(const std::uint8_t* from) {
  return swap16(load<std::uint16_t>(from));
}
[[nodiscard]] inline std::uint32_t load_be32(const std::uint8_t* from) {
  return swap32(load<std::uint32_t>(from));
}
inline void store_be16(std::uint8_t* to, std::uint16_t value) { store(to, swap16(value)); }
inline void store_be32(std::uint8_t* to, std::uint32_t value) { store(to, swap32(value)); }

}  // namespace guideway::net
