// Frame: getting at a received frame's headers, and turning its mbuf into one to send.
// What: brings headers that lie in several segments together; cuts the old frame off the IP packet and makes room
//       for new headers in front of it.
// Cost: a frame in one segment is never copied, one in several only where headers straddle them.
// Thread: worker.
#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/packet.h"
#include "snapshot/port_table.h"

namespace guideway {

// Brings the first `size` bytes of the frame (or all, if it is shorter) together in its first segment. The rest stays
// where it is, so a long packet needs no large mbuf. Copies into fresh mbufs of `mbufs` (and replaces `mbuf`) where
// the first segment is shared. False, with the frame's bytes as they were, when they do not fit into one mbuf or
// there is none.
[[nodiscard]] bool gather(rte_mbuf*& mbuf, std::size_t size, rte_mempool* mbufs);

// What the driver said of the frame that came in is not so of the one that goes out.
inline void clear_offloads(rte_mbuf& mbuf) {
  mbuf.ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
  mbuf.packet_type = 0;
  mbuf.tx_offload = 0;
  mbuf.vlan_tci = 0;
}

// Leaves `headers` bytes to be written and the IP packet behind them, nothing else: no old Ethernet header or
// tags, no padding, no offload flags. Answers where to write. Copies into a fresh mbuf of `mbufs` (and
// replaces `mbuf`) where the old one is shared or has no headroom; nullptr, with `mbuf` as it was, when there
// is none.
[[nodiscard]] inline std::uint8_t* reframe(rte_mbuf*& mbuf, const Packet& packet, std::size_t headers,
                                           rte_mempool* mbufs);
// The rare ones for reframe: in several segments, shared, or without the room.
[[nodiscard]] std::uint8_t* reframe_any(rte_mbuf*& mbuf, const Packet& packet, std::size_t headers,
                                        rte_mempool* mbufs);

// Over all bytes from `offset` on, whichever segments they lie in.
[[nodiscard]] net::ChecksumSum sum_of(const rte_mbuf& mbuf, std::size_t offset);

// A MAC address in the low 48 bits, byte 0 lowest.
[[nodiscard]] inline std::uint64_t mac_word(const MacAddress& mac) {
  return std::uint64_t{net::load<std::uint32_t>(mac.data())} |
         std::uint64_t{net::load<std::uint16_t>(mac.data() + 4)} << 32;
}

// What a port gives to the Ethernet header of every frame that leaves by it.
struct Link {
  std::uint64_t head = 0;  // of the frame's first eight bytes the last two, the source MAC's first two
  std::uint32_t rest = 0;  // of the source MAC, as it lies in the frame
  std::uint32_t tag = 0;   // likewise; 0: none
  std::size_t size = net::ethernet_size;

  Link() = default;
  explicit Link(const PortView& port)
      : head(mac_word(port.mac) << 48), rest(static_cast<std::uint32_t>(mac_word(port.mac) >> 16)) {
    if (port.vlan == 0) return;
    tag = net::swap16(net::ethertype_vlan) | std::uint32_t{net::swap16(port.vlan)} << 16;
    size += net::vlan_tag_size;
  }
};

// Ethernet header and the port's tag, link.size bytes; the destination as mac_word, its upper bits are whatever.
[[gnu::always_inline]] inline void write_ethernet(std::uint8_t* to, std::uint64_t destination,
                                                  const Link& link, std::uint16_t ethertype) {
  net::store(to, (destination & 0xffff'ffff'ffff) | link.head);
  net::store(to + 8, link.rest);
  if (link.tag != 0) [[unlikely]]
    net::store(to + 12, link.tag);
  net::store_be16(to + link.size - 2, ethertype);
}

inline std::uint8_t* reframe(rte_mbuf*& mbuf, const Packet& packet, std::size_t headers, rte_mempool* mbufs) {
  rte_mbuf& frame = *mbuf;
  // data_off, refcnt and nb_segs lie in one word.
  const auto rearm = net::load<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(&frame.rearm_data));
  constexpr std::uint64_t one_reference_one_segment = 0x0001'0001;
  const bool plain = (rearm >> 16 & 0xffff'ffff) == one_reference_one_segment &&
                     (frame.ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) == 0;
  const std::size_t room = (rearm & 0xffff) + packet.ip_offset;
  if (!plain || room < headers) [[unlikely]]
    return reframe_any(mbuf, packet, headers, mbufs);
  frame.data_off = static_cast<std::uint16_t>(room - headers);
  frame.pkt_len = static_cast<std::uint32_t>(headers + packet.ip_length);
  frame.data_len = static_cast<std::uint16_t>(frame.pkt_len);
  clear_offloads(frame);
  return rte_pktmbuf_mtod(&frame, std::uint8_t*);
}

}  // namespace guideway
