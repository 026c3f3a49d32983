// A datagram in fragments, as a host would send them.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/packets.h"

namespace guideway::testing {

// The IP packet around the bytes [from, to) of `l4`, `header.id` its id in both families.
inline Bytes fragment(const Ip& header, const Bytes& l4, std::size_t from, std::size_t to) {
  const bool more = to < l4.size();
  const Bytes part(l4.begin() + static_cast<std::ptrdiff_t>(from),
                   l4.begin() + static_cast<std::ptrdiff_t>(to));
  Ip own = header;
  if (header.source.family == Family::ipv4) {
    own.fragment = static_cast<std::uint16_t>((more ? 0x2000U : 0U) | from / 8);
    return ip(own, part);
  }
  Bytes extension = {header.protocol, 0};
  append16(extension, static_cast<std::uint32_t>(from | (more ? 1 : 0)));
  append32(extension, header.id);
  own.first_header = net::protocol_fragment;
  own.options = extension;
  return ip(own, part);
}

// In pieces of `size` bytes, a multiple of eight.
inline std::vector<Bytes> fragments(const Ip& header, const Bytes& l4, std::size_t size) {
  std::vector<Bytes> out;
  for (std::size_t from = 0; from < l4.size(); from += size)
    out.push_back(frame(fragment(header, l4, from, std::min(from + size, l4.size()))));
  return out;
}

}  // namespace guideway::testing
