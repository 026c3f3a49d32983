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
[[nodiscard]] std::uint8_t* reframe(rte_mbuf*& mbuf, const Packet& packet, std::size_t headers,
                                    rte_mempool* mbufs);
// The same for what nearly every mbuf is: in one segment, nobody else's, and with the room; else nullptr, with the mbuf as
// it was.
[[nodiscard]] inline std::uint8_t* reframe_plain(rte_mbuf& mbuf, std::size_t ip_offset, std::size_t length,
                                                 std::size_t headers);

// Over all bytes from `offset` on, whichever segments they lie in.
[[nodiscard]] net::ChecksumSum sum_of(const rte_mbuf& mbuf, std::size_t offset);

// A MAC address in the low 48 bits, byte 0 lowest.
[[nodiscard]] inline std::uint64_t mac_word(const MacAddress& mac) {
  return std::uint64_t{net::load<std::uint32_t>(mac.data())} |
         std::uint64_t{net::load<std::uint16_t>(mac.data() + 4)} << 32;
}

// What a port gives to the Ethernet header of every frame that leaves by it, in the words that it is stored in.
struct Link {
  std::uint64_t behind_destination = 0;  // the source MAC, then the ethertype or the tag's
  std::uint32_t behind_tag_type = 0;     // the rest of the tag, then the ethertype
  std::size_t size = net::ethernet_size;

  Link() = default;
  Link(const PortView& port, std::uint16_t ethertype) : behind_destination(mac_word(port.mac)) {
    const std::uint16_t type = net::swap16(ethertype);
    const bool tagged = port.vlan != 0;
    behind_destination |= std::uint64_t{tagged ? net::swap16(net::ethertype_vlan) : type} << 48;
    if (!tagged) return;
    behind_tag_type = net::swap16(port.vlan) | std::uint32_t{type} << 16;
    size += net::vlan_tag_size;
  }
};

// Ethernet header and the port's tag, link.size bytes; the destination as mac_word, its upper bits are whatever.
[[gnu::always_inline]] inline void write_ethernet(std::uint8_t* to, std::uint64_t destination,
                                                  const Link& link) {
  net::store(to, destination);
  net::store(to + 6, link.behind_destination);
  if (link.size != net::ethernet_size) [[unlikely]]
    net::store(to + net::ethernet_size, link.behind_tag_type);
}

inline std::uint8_t* reframe_plain(rte_mbuf& mbuf, std::size_t ip_offset, std::size_t length,
                                   std::size_t headers) {
  // data_off, refcnt and nb_segs lie in one word.
  const auto rearm = net::load<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(&mbuf.rearm_data));
  constexpr std::uint64_t one_reference_one_segment = 0x0001'0001;
  if ((rearm >> 16 & 0xffff'ffff) != one_reference_one_segment) return nullptr;
  if ((mbuf.ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0) return nullptr;
  const std::size_t room = (rearm & 0xffff) + ip_offset;
  if (room < headers) return nullptr;
  mbuf.data_off = static_cast<std::uint16_t>(room - headers);
  mbuf.ol_flags = 0;  // without which tx_offload, in a cache line of its own, counts for nothing
  // packet_type and pkt_len, data_len and vlan_tci: as two words.
  static_assert(offsetof(rte_mbuf, pkt_len) == offsetof(rte_mbuf, packet_type) + 4 &&
                offsetof(rte_mbuf, data_len) == offsetof(rte_mbuf, pkt_len) + 4 &&
                offsetof(rte_mbuf, vlan_tci) == offsetof(rte_mbuf, data_len) + 2);
  const std::uint64_t size = headers + length;
  net::store(reinterpret_cast<std::uint8_t*>(&mbuf.packet_type), size << 32);
  net::store(reinterpret_cast<std::uint8_t*>(&mbuf.data_len), static_cast<std::uint32_t>(size));
  std::uint8_t* const start = static_cast<std::uint8_t*>(mbuf.buf_addr) + (room - headers);
  if (start == nullptr) __builtin_unreachable();
  return start;
}

}  // namespace guideway
