// Split: an IPv4 packet without DF in pieces that fit (RFC 791, 3.2).
// What: each piece is a packet of its own: the header with its own length, offset and checksum, and, behind the first
//       one, only the options that are to be copied. A fragment can be split again.
// Why:  a wrapped packet may not fit the path to its backend though it came in whole; the backend's kernel puts it
//       together.
// Cost: a copy of the packet. Rare: hosts set DF.
// Thread: worker.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstddef>

#include "net/packet.h"

namespace guideway {

struct Pieces {
  static constexpr std::size_t count_max =
      160;  // 65,535 bytes at an MTU of 576, behind the largest wrapping, are 142
  std::size_t count = 0;
  std::array<rte_mbuf*, count_max> mbufs;  // each with RTE_PKTMBUF_HEADROOM in front of its IP header

  void free() {
    rte_pktmbuf_free_bulk(mbufs.data(), static_cast<unsigned>(count));
    count = 0;
  }
};

// Pieces of at most `room` bytes. The packet stays as it is. Otherwise than `forward` there are none:
// drop_too_big (no room for a piece, or too many), drop_no_buffer.
[[nodiscard]] Verdict split(const rte_mbuf& mbuf, const Packet& packet, std::size_t room, rte_mempool* mbufs,
                            Pieces& pieces);

}  // namespace guideway
