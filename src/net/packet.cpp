#include "net/packet.h"

#include "net/checksum.h"
#include "net/extension_headers.h"
#include "net/protocols.h"

namespace guideway::net {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Whether `size` bytes from `offset` lie in the packet, and whether they are at hand.
enum class Reach { at_hand, beyond_bytes, beyond_packet };
Reach reach(Bytes bytes, std::size_t ip_length, std::size_t offset, std::size_t size) {
  if (offset + size > ip_length) return Reach::beyond_packet;
  return offset + size > bytes.size() ? Reach::beyond_bytes : Reach::at_hand;
}

// The transport header; answers for Packet::l4. drop_truncated: not at hand.
Verdict parse_l4(Bytes bytes, Packet& packet) {
  const bool first = packet.kind == PacketKind::fragment;
  const bool icmp = packet.protocol == (packet.family == Family::ipv4 ? protocol_icmp : protocol_icmpv6);
  std::size_t size = 0;
  if (packet.protocol == protocol_tcp) size = tcp_size;
  if (packet.protocol == protocol_udp) size = udp_size;
  if (icmp) size = icmp_size;
  if (size == 0) return Verdict::forward;
  switch (reach(bytes, packet.ip_length, packet.l4_offset, size)) {
    case Reach::beyond_bytes:
      return Verdict::drop_truncated;
    case Reach::beyond_packet:
      if (first) return Verdict::drop_tiny_fragment;
      return icmp ? Verdict::drop_icmp_malformed : Verdict::drop_bad_l4;
    case Reach::at_hand:
      break;
  }
  const std::uint8_t* l4 = bytes.data() + packet.l4_offset;
  if (icmp) {
    if (!first) packet.kind = PacketKind::icmp;
    return Verdict::forward;
  }
  packet.source_port = load_be16(l4);
  packet.destination_port = load_be16(l4 + 2);
  if (packet.protocol == protocol_tcp) {
    packet.tcp_flags = l4[13];
    const std::size_t header = std::size_t{l4[12]} / 16 * 4;
    // The options of a first fragment may stand in the next one.
    if (header < tcp_size || (!first && header > packet.l4_length())) return Verdict::drop_bad_l4;
    if (!first) packet.kind = PacketKind::tcp;
  } else {
    const std::size_t length = load_be16(l4 + 4);
    if (length < udp_size || (!first && length > packet.l4_length())) return Verdict::drop_bad_l4;
    if (!first) packet.kind = PacketKind::udp;
  }
  return Verdict::forward;
}

// What can be said of a fragment without its fellows; answers for Packet::l4.
Verdict judge_fragment(const Packet& packet) {
  const std::size_t length = packet.fragment_length();
  // All but the last hold a multiple of eight bytes, and none reaches beyond what IP can number (RFC 791; RFC 8200, 4.5).
  if (length == 0 || (packet.more_fragments && length % 8 != 0)) return Verdict::drop_bad_ip_length;
  if (packet.fragment_offset + length > 0xffff) return Verdict::drop_bad_ip_length;
  // It would write over TCP's ports or flags (RFC 1858).
  if (packet.protocol == protocol_tcp && packet.fragment_offset != 0 && packet.fragment_offset < tcp_size)
    return Verdict::drop_tiny_fragment;
  return Verdict::forward;
}

Verdict parse_above_ip(Bytes bytes, Packet& packet) {
  if (packet.fragment_offset == 0) {
    const Verdict verdict = parse_l4(bytes, packet);
    if (verdict == Verdict::drop_truncated) return verdict;
    packet.l4 = verdict;
  }
  if (packet.kind == PacketKind::fragment && packet.l4 == Verdict::forward)
    packet.l4 = judge_fragment(packet);
  return Verdict::forward;
}

Verdict parse_ipv4(Bytes bytes, std::size_t length_available, bool checksum_known_good, Packet& out) {
  if (length_available < ipv4_size) return Verdict::drop_bad_ip_header;
  if (bytes.size() < ipv4_size) return Verdict::drop_truncated;
  const std::uint8_t* ip = bytes.data();
  if (ip[0] >> 4 != 4) return Verdict::drop_bad_ip_version;
  const std::size_t header = std::size_t{ip[0]} % 16 * 4;
  if (header < ipv4_size || header > length_available) return Verdict::drop_bad_ip_header;
  if (header > bytes.size()) return Verdict::drop_truncated;
  const std::size_t length = load_be16(ip + 2);
  if (length < header || length > length_available) return Verdict::drop_bad_ip_length;
  if (!checksum_known_good && !checksum_holds(bytes.first(header))) return Verdict::drop_bad_ip_checksum;
  if (ip[8] == 0) return Verdict::drop_ttl_zero;

  const std::uint16_t fragment = load_be16(ip + 6);
  out.family = Family::ipv4;
  out.protocol = ip[9];
  out.tos = ip[1];
  out.ip_length = static_cast<std::uint16_t>(length);
  out.l4_offset = static_cast<std::uint16_t>(header);
  out.df_bit = ip[6] & Packet::df;
  out.more_fragments = (fragment & 0x2000) != 0;
  out.fragment_offset = static_cast<std::uint16_t>((fragment & 0x1fff) * 8);
  if (out.is_fragment()) {
    out.kind = PacketKind::fragment;
    out.fragment_id = load<std::uint16_t>(ip + 4);
    out.fragment_start = out.l4_offset;
  }
  return parse_above_ip(bytes, out);
}

// Walks the extension headers from packet.protocol and packet.l4_offset on to the transport header.
// Answers for Packet::l4; drop_truncated: a header is not at hand.
Verdict walk_extensions(Bytes bytes, Packet& packet) {
  for (unsigned n = 0;; ++n) {
    const std::uint8_t type = packet.protocol;
    const bool sized =
        type == protocol_hop_by_hop || type == protocol_routing || type == protocol_destination_options;
    if (!sized && type != protocol_fragment) return Verdict::forward;
    if (n == GW_EXTENSION_HEADERS_MAX || (type == protocol_hop_by_hop && n != 0))
      return Verdict::drop_bad_extension;
    const std::size_t offset = packet.l4_offset;
    switch (reach(bytes, packet.ip_length, offset, ipv6_fragment_size)) {
      case Reach::beyond_bytes:
        return Verdict::drop_truncated;
      case Reach::beyond_packet:
        return Verdict::drop_bad_extension;
      case Reach::at_hand:
        break;
    }
    const std::uint8_t* header = bytes.data() + offset;
    const std::size_t size = sized ? (std::size_t{header[1]} + 1) * 8 : ipv6_fragment_size;
    if (offset + size > packet.ip_length) return Verdict::drop_bad_extension;
    packet.protocol = header[0];
    packet.l4_offset = static_cast<std::uint16_t>(offset + size);
    if (sized) continue;
    const std::uint16_t fragment = load_be16(header + 2);
    packet.fragment_offset = fragment & 0xfff8;
    packet.more_fragments = (fragment & 1) != 0;
    // Offset 0 and no more to come: an atomic fragment, a whole packet (RFC 6946).
    if (!packet.is_fragment()) continue;
    packet.kind = PacketKind::fragment;
    packet.fragment_id = load<std::uint32_t>(header + 4);
    packet.fragment_start = packet.l4_offset;
    // What follows a later fragment's header is payload.
    if (packet.fragment_offset != 0) return Verdict::forward;
  }
}

Verdict parse_ipv6(Bytes bytes, std::size_t length_available, Packet& out) {
  if (length_available < ipv6_size) return Verdict::drop_bad_ip_header;
  if (bytes.size() < ipv6_size) return Verdict::drop_truncated;
  const std::uint8_t* ip = bytes.data();
  if (ip[0] >> 4 != 6) return Verdict::drop_bad_ip_version;
  const std::size_t length = ipv6_size + load_be16(ip + 4);
  if (length > length_available || length > 0xffff) return Verdict::drop_bad_ip_length;
  if (ip[7] == 0) return Verdict::drop_ttl_zero;

  out.family = Family::ipv6;
  out.protocol = ip[6];
  out.tos = static_cast<std::uint8_t>(load_be16(ip) >> 4);
  out.df_bit = Packet::df;
  out.ip_length = static_cast<std::uint16_t>(length);
  out.l4_offset = ipv6_size;
  const Verdict verdict = walk_extensions(bytes, out);
  if (verdict == Verdict::drop_truncated) return verdict;
  if (verdict != Verdict::forward) {
    out.kind = PacketKind::other;
    out.l4 = verdict;
    return Verdict::forward;
  }
  return parse_above_ip(bytes, out);
}

// The quote's IP header alone. Its length field tells of bytes that are not here, so it bounds nothing.
bool parse_quoted_ip(Bytes bytes, Family family, Packet& out) {
  const std::size_t fixed = family == Family::ipv4 ? ipv4_size : ipv6_size;
  if (bytes.size() < fixed || bytes[0] >> 4 != static_cast<std::uint8_t>(family)) return false;
  out.family = family;
  out.ip_length = 0xffff;
  if (family == Family::ipv6) {
    out.protocol = bytes[6];
    out.l4_offset = ipv6_size;
    return walk_extensions(bytes, out) == Verdict::forward;
  }
  const std::size_t header = std::size_t{bytes[0]} % 16 * 4;
  if (header < ipv4_size) return false;
  out.protocol = bytes[9];
  out.l4_offset = static_cast<std::uint16_t>(header);
  out.fragment_offset = static_cast<std::uint16_t>((load_be16(bytes.data() + 6) & 0x1fff) * 8);
  return true;
}

}  // namespace

bool parse_quote(std::span<const std::uint8_t> bytes, Family family, Packet& out) {
  constexpr std::size_t l4_quoted = 8;
  out = Packet{};
  if (!parse_quoted_ip(bytes, family, out) || out.fragment_offset != 0) return false;
  if (out.protocol != protocol_tcp && out.protocol != protocol_udp) return false;
  if (out.l4_offset + l4_quoted > bytes.size()) return false;
  out.source_port = load_be16(bytes.data() + out.l4_offset);
  out.destination_port = load_be16(bytes.data() + out.l4_offset + 2);
  return true;
}

Verdict parse_ip(std::span<const std::uint8_t> bytes, std::size_t length_available, Family family,
                 bool checksum_known_good, Packet& out) {
  out = Packet{};
  return family == Family::ipv4 ? parse_ipv4(bytes, length_available, checksum_known_good, out)
                                : parse_ipv6(bytes, length_available, out);
}

}  // namespace guideway::net
