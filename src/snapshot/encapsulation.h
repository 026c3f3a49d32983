// Encapsulation: how a packet is wrapped for its backend (design section 3).
#pragma once

#include <cstdint>

namespace guideway {

enum class Encapsulation : std::uint8_t {
  gue,   // UDP with the row's further hops
  ipip,  // IP in IP: RFC 2003, 2473, 4213
  gre,   // RFC 2784, without key
  l2,    // not wrapped: sent to the backend's MAC, so it has to be a neighbour
};

// Whether a packet can name further hops behind its first. Where none can, only a flow table keeps a flow where it is
// through a change.
[[nodiscard]] constexpr bool names_further_hops(Encapsulation encapsulation) {
  return encapsulation == Encapsulation::gue;
}

}  // namespace guideway
