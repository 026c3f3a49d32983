// Wrapping: everything between the Ethernet header and the inner packet, by a pool's encapsulation.
// Why:  the data plane writes it, `explain` shows it, and `check` wants to know its size: one place for all.
// Not:  Ethernet, the choice of hops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/ethernet.h"
#include "net/gre.h"
#include "net/gue.h"
#include "net/outer_ip.h"
#include "snapshot/encapsulation.h"

namespace guideway::net {

// The GUE part (further hops, port) counts only with Encapsulation::gue.
struct Wrapping {
  Encapsulation encapsulation = Encapsulation::gue;
  GueOuter outer;
};

// Bytes in front of the inner packet; `hops` as the packet names them, the first one included.
[[nodiscard]] constexpr std::size_t wrapping_size(Encapsulation encapsulation, Family outer,
                                                  std::size_t hops) {
  switch (encapsulation) {
    case Encapsulation::gue:
      return gue_outer_size(outer, hops - 1);
    case Encapsulation::ipip:
      return ip_size(outer);
    case Encapsulation::gre:
      return ip_size(outer) + gre_size;
    case Encapsulation::l2:
      break;
  }
  return 0;
}

// Of the frame around it.
[[nodiscard]] constexpr std::uint16_t wrapping_ethertype(const Wrapping& wrapping) {
  return ethertype_of(wrapping.encapsulation == Encapsulation::l2 ? wrapping.outer.inner_family
                                                                  : wrapping.outer.ip.family);
}

// Writes wrapping_size() bytes at `to`; `further` as write_gue_outer asks it.
template <class Further>
[[gnu::always_inline]] inline void write_wrapping(std::uint8_t* to, const Wrapping& wrapping,
                                                  const Further& further) {
  const GueOuter& outer = wrapping.outer;
  switch (wrapping.encapsulation) {
    case Encapsulation::gue:
      return write_gue_outer(to, outer, further);
    case Encapsulation::ipip:
      write_outer_ip(to, outer.ip, protocol_of(outer.inner_family), outer.inner_length);
      return;
    case Encapsulation::gre:
      return write_gre(write_outer_ip(to, outer.ip, protocol_gre, gre_size + outer.inner_length),
                       outer.inner_family);
    case Encapsulation::l2:
      return;
  }
}

}  // namespace guideway::net
