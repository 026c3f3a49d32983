// Prefix: arithmetic on address prefixes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "guideway/address.h"

namespace guideway {

[[nodiscard]] inline std::uint8_t prefix_length_max(Family family) {
  return family == Family::ipv4 ? 32 : 128;
}

// The address with the bits behind the prefix cleared.
[[nodiscard]] inline IpAddress network_of(IpAddress address, std::uint8_t prefix_length) {
  for (std::size_t i = 0; i < address.size(); ++i) {
    const int kept = std::clamp(static_cast<int>(prefix_length) - static_cast<int>(8 * i), 0, 8);
    address.bytes[i] = static_cast<std::uint8_t>(address.bytes[i] & (0xff00U >> kept));
  }
  return address;
}

struct Prefix {
  IpAddress address;  // may have host bits
  std::uint8_t length = 32;
  friend bool operator==(const Prefix&, const Prefix&) = default;
};

// A length in decimal digits, from 0 to the address's bits.
[[nodiscard]] inline std::optional<std::uint8_t> parse_prefix_length(std::string_view digits, Family family) {
  unsigned length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || end != digits.data() + digits.size() || length > prefix_length_max(family))
    return std::nullopt;
  return static_cast<std::uint8_t>(length);
}

// "203.0.113.0/28"; a single address without a length.
[[nodiscard]] inline std::string prefix_text(const IpAddress& address, std::uint8_t length) {
  std::string out = address.text();
  if (length != prefix_length_max(address.family)) out += "/" + std::to_string(length);
  return out;
}

// Addresses that no host answers on: 0.0.0.0, 255.255.255.255, ::, and multicast.
[[nodiscard]] inline bool is_unicast(const IpAddress& address) {
  const auto all = [&](std::uint8_t byte) {
    return std::all_of(address.view().begin(), address.view().end(),
                       [byte](std::uint8_t b) { return b == byte; });
  };
  const bool multicast =
      address.family == Family::ipv4 ? (address.bytes[0] & 0xf0U) == 0xe0 : address.bytes[0] == 0xff;
  return !multicast && !all(0) && !(address.family == Family::ipv4 && all(0xff));
}

// 127.0.0.0/8 and ::1: each host's own.
[[nodiscard]] inline bool is_loopback(const IpAddress& address) {
  return address.family == Family::ipv4
             ? address.bytes[0] == 127
             : std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](auto b) { return b == 0; }) &&
                   address.bytes[15] == 1;
}

}  // namespace guideway
