// Prefix: an address with a length, as lists name them.
// What: parses and prints "10.0.0.0/24", "fd00::/64" and plain addresses (full length), and turns them into
// the keys
//       of the programs' maps and back.
// Not:  arithmetic on prefixes beyond `covers`.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "bpf/key.h"
#include "guideway/address.h"
#include "guideway/result.h"

namespace guideway::agent {

struct Prefix {
  IpAddress address;
  std::uint8_t length = 0;  // bits; host bits of the address are zero
  friend auto operator<=>(const Prefix&, const Prefix&) = default;

  [[nodiscard]] std::string text() const;  // without the length if it is full
  [[nodiscard]] bool covers(const Prefix& other) const;
  [[nodiscard]] bool is_full() const { return length == address.size() * 8; }
};

// Refused: what is no address, a length out of range, bits behind the length, and IPv6 prefixes that hold mapped IPv4
// addresses (::/0 as well): listed, they would let IPv4 hosts in.
[[nodiscard]] Result<Prefix> parse_prefix(std::string_view text);

using guideway::map_key;
[[nodiscard]] gw_prefix map_key(const Prefix& prefix);
[[nodiscard]] IpAddress address_of(const gw_address& key);
[[nodiscard]] Prefix prefix_of(const gw_prefix& key);

}  // namespace guideway::agent
