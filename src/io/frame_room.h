// Frame room: how large a buffer must be to hold a frame of a given MTU.
// Why:  the mbuf and af_packet's ring slot must agree, or the driver cuts frames short without a word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guideway {

// Ethernet and two VLAN tags.
inline constexpr std::size_t link_header_max = 14 + 4 + 4;

// A power of two from 2048 on, with 128 bytes to spare for what af_packet writes before a frame.
[[nodiscard]] constexpr std::size_t frame_room(std::size_t mtu) {
  std::size_t room = 2048;
  while (room < mtu + link_header_max + 128) room *= 2;
  return room;
}
static_assert(frame_room(1500) == 2048 && frame_room(1898) == 2048 && frame_room(1899) == 4096 &&
              frame_room(9000) == 16384);

}  // namespace guideway
