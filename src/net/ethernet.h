// Ethernet: the frame's header and up to two VLAN tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "guideway/address.h"
#include "net/byte_order.h"

namespace guideway::net {

inline constexpr std::size_t ethernet_size = 14, vlan_tag_size = 4;
inline constexpr unsigned vlan_tags_max = 2;
inline constexpr std::size_t ethernet_size_max = ethernet_size + vlan_tags_max * vlan_tag_size;
inline constexpr std::uint16_t ethertype_ipv4 = 0x0800, ethertype_arp = 0x0806, ethertype_ipv6 = 0x86dd,
                               ethertype_vlan = 0x8100, ethertype_qinq = 0x88a8;

[[nodiscard]] constexpr std::uint16_t ethertype_of(Family family) {
  return family == Family::ipv4 ? ethertype_ipv4 : ethertype_ipv6;
}

struct EthernetHeader {
  std::uint16_t ethertype = 0;  // behind the tags; an 802.3 length stands here as it is
  std::uint16_t payload_offset = 0;
};

[[nodiscard]] inline bool is_multicast(const std::uint8_t* mac) { return (mac[0] & 1) != 0; }

// False: the frame is cut within its header or tags. A third tag is answered as the ethertype.
[[nodiscard]] inline bool parse_ethernet(std::span<const std::uint8_t> frame, EthernetHeader& out) {
  if (frame.size() < ethernet_size) return false;
  std::size_t offset = ethernet_size;
  std::uint16_t type = load_be16(frame.data() + 12);
  for (unsigned tags = 0; tags < vlan_tags_max && (type == ethertype_vlan || type == ethertype_qinq);
       ++tags) {
    if (frame.size() < offset + vlan_tag_size) return false;
    type = load_be16(frame.data() + offset + 2);
    offset += vlan_tag_size;
  }
  out = {type, static_cast<std::uint16_t>(offset)};
  return true;
}

}  // namespace guideway::net
