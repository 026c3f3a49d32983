// Packets for tests: frames built field by field, right unless told otherwise.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include "guideway/address.h"
#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/packet.h"
#include "net/protocols.h"
#include "snapshot/next_hops.h"

namespace guideway::testing {

using Bytes = std::vector<std::uint8_t>;

inline constexpr MacAddress router_mac{0x02, 0, 0, 0, 0, 0x99};
inline constexpr MacAddress port_mac{0x02, 0, 0, 0, 0, 0x01};

inline void append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }
inline void append16(Bytes& out, std::uint32_t value) {
  out.push_back(static_cast<std::uint8_t>(value >> 8));
  out.push_back(static_cast<std::uint8_t>(value));
}
inline void append32(Bytes& out, std::uint32_t value) {
  append16(out, value >> 16);
  append16(out, value);
}
inline Bytes bytes_of(const IpAddress& address) { return {address.view().begin(), address.view().end()}; }
inline IpAddress address(std::string_view text) { return IpAddress::parse(text).value(); }

// "4500 0028 …", blanks ignored.
inline Bytes from_hex(std::string_view text) {
  Bytes out;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<std::uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  return out;
}

struct L4 {
  std::uint16_t source_port = 40000, destination_port = 80;
  std::uint8_t flags = tcp_ack;
  Bytes options;  // TCP, a multiple of four bytes
  Bytes payload = {'g', 'u', 'i', 'd', 'e', 'w', 'a', 'y'};
};

inline Bytes tcp(const L4& l4 = {}) {
  Bytes out;
  append16(out, l4.source_port);
  append16(out, l4.destination_port);
  append32(out, 0x01020304);  // sequence
  append32(out, 0x05060708);  // acknowledgement
  out.push_back(static_cast<std::uint8_t>((5 + l4.options.size() / 4) << 4));
  out.push_back(l4.flags);
  append16(out, 0xffff);
  append32(out, 0xbad00000);  // a wrong checksum, to be left as it is
  append(out, l4.options);
  append(out, l4.payload);
  return out;
}

inline Bytes udp(const L4& l4 = {}) {
  Bytes out;
  append16(out, l4.source_port);
  append16(out, l4.destination_port);
  append16(out, static_cast<std::uint32_t>(net::udp_size + l4.payload.size()));
  append16(out, 0);
  append(out, l4.payload);
  return out;
}

struct Ip {
  IpAddress source = address("198.51.100.7"), destination = address("203.0.113.10");
  std::uint8_t protocol = net::protocol_tcp;
  std::uint8_t ttl = 57, tos = 0;
  std::uint16_t id = 0x1234;
  std::uint16_t fragment = 0x4000;  // flags and offset, as in the header
  Bytes options;                    // IPv4: a multiple of four bytes. IPv6: extension headers, chained
  std::uint8_t first_header = 0;    // IPv6: protocol of the first extension header
  std::uint32_t flow_label = 0x12345;
};

inline void fix_ipv4_checksum(Bytes& packet, std::size_t offset = 0) {
  const std::size_t header = std::size_t{packet[offset]} % 16 * 4;
  net::store<std::uint16_t>(packet.data() + offset + 10, 0);
  const auto checksum = net::ChecksumSum{}.add({packet.data() + offset, header}).checksum();
  net::store(packet.data() + offset + 10, checksum);
}

// The IP packet around a payload.
inline Bytes ip(const Ip& header, const Bytes& payload) {
  Bytes out;
  if (header.source.family == Family::ipv4) {
    const std::size_t size = net::ipv4_size + header.options.size();
    out.push_back(static_cast<std::uint8_t>(0x40 | size / 4));
    out.push_back(header.tos);
    append16(out, static_cast<std::uint32_t>(size + payload.size()));
    append16(out, header.id);
    append16(out, header.fragment);
    out.push_back(header.ttl);
    out.push_back(header.protocol);
    append16(out, 0);
    append(out, bytes_of(header.source));
    append(out, bytes_of(header.destination));
    append(out, header.options);
    fix_ipv4_checksum(out);
  } else {
    append32(out, 6U << 28 | std::uint32_t{header.tos} << 20 | header.flow_label);
    append16(out, static_cast<std::uint32_t>(header.options.size() + payload.size()));
    out.push_back(header.options.empty() ? header.protocol : header.first_header);
    out.push_back(header.ttl);
    append(out, bytes_of(header.source));
    append(out, bytes_of(header.destination));
    append(out, header.options);
  }
  append(out, payload);
  return out;
}

inline Ip ipv6() {
  Ip header;
  header.source = address("2001:db8:1::7");
  header.destination = address("2001:db8:2::10");
  return header;
}

struct Link {
  MacAddress destination = port_mac, source = router_mac;
  std::vector<std::pair<std::uint16_t, std::uint16_t>> tags;  // ethertype and VLAN
  std::size_t padding = 0;
};

inline Bytes ethernet(std::uint16_t ethertype, const Bytes& payload, const Link& link = {}) {
  Bytes out;
  for (const MacAddress& mac : {link.destination, link.source}) out.insert(out.end(), mac.begin(), mac.end());
  for (const auto& [type, vlan] : link.tags) {
    append16(out, type);
    append16(out, vlan);
  }
  append16(out, ethertype);
  append(out, payload);
  out.insert(out.end(), link.padding, 0xee);
  return out;
}

// The frame around an IP packet of either family.
inline Bytes frame(const Bytes& packet, const Link& link = {}) {
  return ethernet(packet[0] >> 4 == 6 ? 0x86dd : 0x0800, packet, link);
}

}  // namespace guideway::testing
