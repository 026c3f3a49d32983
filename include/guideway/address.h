// IpAddress: an IPv4 or IPv6 address as the bytes on the wire.
// What: value type; comparable, hashable by its bytes, parsed and printed by the C library's rules.
// Not:  prefixes with host bits, zones, or names.
#pragma once

#include <arpa/inet.h>

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace guideway {

enum class Family : std::uint8_t { ipv4 = 4, ipv6 = 6 };

struct IpAddress {
  Family family = Family::ipv4;
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 in the first four, the rest zero

  [[nodiscard]] std::size_t size() const { return family == Family::ipv4 ? 4 : 16; }
  [[nodiscard]] std::span<const std::uint8_t> view() const { return {bytes.data(), size()}; }

  // Plain dotted or colon form only; nullopt for anything else.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text) {
    IpAddress out;
    const std::string copy(text);
    if (copy.find('\0') != std::string::npos) return std::nullopt;
    if (inet_pton(AF_INET, copy.c_str(), out.bytes.data()) == 1) return out;
    out.bytes.fill(0);
    out.family = Family::ipv6;
    if (inet_pton(AF_INET6, copy.c_str(), out.bytes.data()) == 1) return out;
    return std::nullopt;
  }

  [[nodiscard]] std::string text() const {
    std::array<char, INET6_ADDRSTRLEN> out{};
    inet_ntop(family == Family::ipv4 ? AF_INET : AF_INET6, bytes.data(), out.data(), out.size());
    return out.data();
  }

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

}  // namespace guideway
