#include "agent/prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace guideway::agent {
namespace {

bool same_bits(const IpAddress& a, const IpAddress& b, std::uint8_t bits) {
  for (std::size_t i = 0; i < bits / 8u; ++i)
    if (a.bytes[i] != b.bytes[i]) return false;
  const unsigned rest = bits % 8u;
  return rest == 0 || ((a.bytes[bits / 8u] ^ b.bytes[bits / 8u]) >> (8 - rest)) == 0;
}

// Whether an IPv6 prefix shares addresses with those that stand for IPv4 in the programs' maps.
bool meets_mapped(const Prefix& prefix) {
  const IpAddress mapped = IpAddress::parse("::ffff:0.0.0.0").value();
  return prefix.address.family == Family::ipv6 &&
         same_bits(prefix.address, mapped,
                   static_cast<std::uint8_t>(std::min<std::uint32_t>(prefix.length, mapped_bits)));
}

}  // namespace

std::string Prefix::text() const {
  return is_full() ? address.text() : fmt::format("{}/{}", address.text(), length);
}

bool Prefix::covers(const Prefix& other) const {
  return address.family == other.address.family && length <= other.length &&
         same_bits(address, other.address, length);
}

Result<Prefix> parse_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address)
    return fail(ErrorKind::usage, fmt::format("\"{}\" is no IPv4 or IPv6 address", text), {},
                "write 10.0.0.2, fd00::2, 10.0.0.0/24 or fd00::/64");
  Prefix out{*address, static_cast<std::uint8_t>(address->size() * 8)};
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    unsigned length = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), length);
    if (error != std::errc{} || end != digits.end() || length > out.length)
      return fail(ErrorKind::usage, fmt::format("\"{}\" has no usable prefix length", text), {},
                  fmt::format("write a length from 0 to {} behind the slash", out.length));
    out.length = static_cast<std::uint8_t>(length);
  }
  IpAddress network = out.address;
  for (std::size_t bit = out.length; bit < network.size() * 8; ++bit)
    network.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80u >> (bit % 8)));
  if (network != out.address)
    return fail(ErrorKind::usage, fmt::format("\"{}\" has bits behind its prefix length", text), {},
                fmt::format("write {}/{} for the network or leave the length out for the address",
                            network.text(), out.length));
  if (meets_mapped(out))
    return fail(ErrorKind::usage, fmt::format("\"{}\" holds IPv4 addresses as IPv6 writes them", text), {},
                "name IPv6 networks beside ::ffff:0:0/96, as in 2000::/3, and IPv4 ones as in 10.0.0.0/8");
  return out;
}

gw_prefix map_key(const Prefix& prefix) { return guideway::map_key(prefix.address, prefix.length); }

IpAddress address_of(const gw_address& key) {
  IpAddress out;
  std::array<std::uint8_t, sizeof(gw_address)> bytes{};
  std::memcpy(bytes.data(), &key, sizeof(key));
  if (key.words_be[0] == 0 && key.words_be[1] == 0 && key.words_be[2] == htonl(0xffff)) {
    std::copy_n(bytes.begin() + mapped_bytes, 4, out.bytes.begin());
  } else {
    out.family = Family::ipv6;
    out.bytes = bytes;
  }
  return out;
}

Prefix prefix_of(const gw_prefix& key) {
  Prefix out{address_of(key.address), static_cast<std::uint8_t>(key.length)};
  if (out.address.family == Family::ipv4 && key.length >= mapped_bits)
    out.length = static_cast<std::uint8_t>(key.length - mapped_bits);
  return out;
}

}  // namespace guideway::agent
