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

#include "net/ethernet.h"
#include "net/packet.h"
#include "snapshot/port_table.h"

namespace guideway {

// Brings the first `size` bytes of the frame (or all, if it is shorter) together in its first segment. The rest stays
// where it is, so a long packet needs no large mbuf. Copies into fresh mbufs of `mbufs` (and replaces `mbuf`) where
// the first segment is shared. False, with the frame's bytes as they were, when they do not fit into one mbuf or
// there is none.
[[nodiscard]] bool gather(rte_mbuf*& mbuf, std::size_t size, rte_mempool* mbufs);

// Leaves `headers` bytes to be written and the IP packet behind them, nothing else: no old Ethernet header or
// tags, no padding, no offload flags. Answers where to write. Copies into a fresh mbuf of `mbufs` (and
// replaces `mbuf`) where the old one is shared or has no headroom; nullptr, with `mbuf` as it was, when there
// is none.
[[nodiscard]] std::uint8_t* reframe(rte_mbuf*& mbuf, const Packet& packet, std::size_t headers,
                                    rte_mempool* mbufs);

// Ethernet header and the port's tag.
[[nodiscard]] inline std::size_t link_size(const PortView& port) {
  return net::ethernet_size + (port.vlan != 0 ? net::vlan_tag_size : 0);
}

// Destination, source, and the port's VLAN tag where it has one.
inline void write_ethernet(std::uint8_t* to, const MacAddress& destination, const PortView& port,
                           std::uint16_t ethertype) {
  std::memcpy(to, destination.data(), destination.size());
  std::memcpy(to + 6, port.mac.data(), port.mac.size());
  if (port.vlan != 0) {
    net::store_be16(to + 12, net::ethertype_vlan);
    net::store_be16(to + 14, port.vlan);
    net::store_be16(to + 16, ethertype);
  } else {
    net::store_be16(to + 12, ethertype);
  }
}

}  // namespace guideway
