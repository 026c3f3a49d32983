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

// As much as is needed and no more, since AF_XDP wants a whole mbuf in one page; the kernel keeps 256 bytes of it.
inline constexpr std::size_t xdp_headroom = 256;
[[nodiscard]] constexpr std::size_t xdp_frame_room(std::size_t mtu) {
  constexpr std::size_t line = 64;
  const std::size_t need = (mtu + link_header_max + xdp_headroom + line - 1) / line * line;
  return need < 2048 ? 2048 : need;
}
static_assert(xdp_frame_room(1500) == 2048 && xdp_frame_room(1770) == 2048 && xdp_frame_room(1771) == 2112);

// A page of 64 cache lines, less one that a mempool adds to spread its objects, the mempool's own, the mbuf's two, and
// the two in front of a frame.
inline constexpr std::size_t xdp_mtu_max = (64 - 1 - 1 - 2 - 2) * 64 - xdp_headroom - link_header_max;
static_assert(xdp_mtu_max == 3434);

}  // namespace guideway
