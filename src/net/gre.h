// GRE: the four bytes between an outer IP header and the inner packet (RFC 2784: no key, no checksum, no sequence).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "guideway/address.h"
#include "net/byte_order.h"
#include "net/ethernet.h"
#include "net/protocols.h"

namespace guideway::net {

inline void write_gre(std::uint8_t* to, Family inner) { store_be32(to, ethertype_of(inner)); }

// The family of the IP packet behind a header of this form; none for any other form.
[[nodiscard]] inline std::optional<Family> parse_gre(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < gre_size) return std::nullopt;
  for (const Family family : {Family::ipv4, Family::ipv6})
    if (load_be32(bytes.data()) == ethertype_of(family)) return family;
  return std::nullopt;
}

}  // namespace guideway::net
