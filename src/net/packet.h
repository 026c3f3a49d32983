// Packet: what the parser found in one IP packet.
// What: offsets and the fields that stages decide by; the bytes stay where they are.
// Why:  the parser reads a plain byte span, so the tests run it on heap buffers of exact size.
// Not:  Ethernet (ethernet.h), quoted packets in ICMP errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "guideway/address.h"
#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/protocols.h"
#include "snapshot/verdict.h"

namespace guideway {

enum class PacketKind : std::uint8_t {
  tcp,
  udp,
  icmp,      // ICMP in IPv4, ICMPv6 in IPv6
  fragment,  // any part of a fragmented datagram, until it is known whose; an atomic IPv6 fragment is not one
  other,     // another protocol
};

// In the order of four words, each of which parse_plain puts together in a register and stores at once; of the first one, what
// IPv4's header has in its own first word lies where it lies there.
struct alignas(8) Packet {
  static constexpr std::uint8_t df = 0x40;

  Family family = Family::ipv4;
  std::uint8_t tos = 0;  // DSCP and ECN: IPv4's TOS, IPv6's traffic class
  PacketKind kind = PacketKind::other;
  std::uint8_t protocol = 0;   // behind the extension headers
  std::uint8_t tcp_flags = 0;  // 0 of any other protocol, and of a later fragment
  bool more_fragments = false;
  std::uint8_t df_bit = 0;  // df where IPv4's DF is set, and of all IPv6
  // What the layers above IP came to. It counts only for a packet to a service address; others are the
  // kernel's to judge.
  Verdict l4 = Verdict::forward;

  std::uint16_t ip_length = 0;        // header and payload, without Ethernet padding
  std::uint16_t l4_offset = 0;        // from the start of the IP header
  std::uint16_t fragment_offset = 0;  // in bytes
  std::uint16_t ip_offset = 0;        // in the frame; parse_ip leaves it to its caller

  std::uint16_t destination_port = 0, source_port = 0;  // host order; TCP and UDP, also in a first fragment
  // Of a fragment, else 0: where its own bytes begin, from the start of the IP header; the id as on the wire.
  std::uint16_t fragment_start = 0;
  std::uint32_t fragment_id = 0;

  [[nodiscard]] bool dont_fragment() const { return df_bit != 0; }
  [[nodiscard]] std::size_t l4_length() const { return std::size_t{ip_length} - l4_offset; }
  [[nodiscard]] std::size_t fragment_length() const { return std::size_t{ip_length} - fragment_start; }
  [[nodiscard]] bool is_fragment() const { return more_fragments || fragment_offset != 0; }
  friend bool operator==(const Packet&, const Packet&) = default;
};
static_assert(offsetof(Packet, tos) == 1 && offsetof(Packet, kind) == 2 && offsetof(Packet, protocol) == 3 &&
                  offsetof(Packet, tcp_flags) == 4 && offsetof(Packet, df_bit) == 6 &&
                  offsetof(Packet, l4) == 7 && offsetof(Packet, ip_offset) == 14 &&
                  offsetof(Packet, fragment_start) == 20 && sizeof(Packet) == 32,
              "parse_plain knows the words");

inline constexpr std::uint8_t tcp_fin = 0x01, tcp_syn = 0x02, tcp_rst = 0x04, tcp_ack = 0x10;
// A SYN that opens a flow; with data or ECN bits it is one, SYN+ACK is not.
[[nodiscard]] constexpr bool is_syn(const Packet& packet) {
  return (packet.tcp_flags & (tcp_syn | tcp_ack)) == tcp_syn;
}

namespace net {

// Parses the IP packet at the start of `bytes`, which are contiguous; `length_available` (>= bytes.size()) is
// what the frame holds from there on. `checksum_known_good` skips the IPv4 header checksum.
// Answers `forward` when the IP header is sound (see Packet::l4 for the rest), else the reason to drop.
// drop_truncated: a header lies beyond `bytes` but within the frame; make it contiguous and try again.
[[nodiscard]] Verdict parse_ip(std::span<const std::uint8_t> bytes, std::size_t length_available,
                               Family family, bool checksum_known_good, Packet& out);

// What nearly every packet is: whole, with TCP or UDP behind an IP header without options, and all of these headers at
// hand. Sets what parse_ip would, and ip_offset, and answers true; false says nothing about the packet, which is then
// parse_ip's to judge. The tests hold the two equal.
[[gnu::always_inline]] inline bool parse_plain(std::span<const std::uint8_t> bytes,
                                               std::size_t length_available, Family family,
                                               bool checksum_known_good, std::uint16_t ip_offset,
                                               Packet& out) {
  const bool ipv4 = family == Family::ipv4;
  const std::size_t ip_header = ipv4 ? ipv4_size : ipv6_size;
  if (bytes.size() < ip_header + tcp_size) return false;
  const std::uint8_t* ip = bytes.data();
  const std::uint8_t* l4 = ip + ip_header;
  const auto words01 = load<std::uint64_t>(ip);
  std::size_t length = 0;
  std::uint8_t protocol = 0;
  std::uint64_t tos_and_df = 0;  // where the first word has them
  constexpr std::uint64_t tos_bits = 0xff00, df_bits = std::uint64_t{Packet::df} << 48;
  if (ipv4) {
    const auto words23 = load<std::uint64_t>(ip + 8);
    // Version 4, no options, no fragment, a TTL.
    constexpr std::uint64_t fragment_bits = std::uint64_t{swap16(0x3fff)} << 48;
    if ((words01 & (0xff | fragment_bits)) != 0x45 || (words23 & 0xff) == 0) return false;
    if (!checksum_known_good &&
        ChecksumSum{}.add(words01).add(words23).add(load<std::uint32_t>(ip + 16)).folded() != 0xffff)
      return false;
    length = swap16(static_cast<std::uint16_t>(words01 >> 16));
    protocol = static_cast<std::uint8_t>(words23 >> 8);
    tos_and_df = words01 & (tos_bits | df_bits);
  } else {
    if ((words01 & 0xf0) != 0x60 || words01 >> 56 == 0) return false;
    length = ipv6_size + swap16(static_cast<std::uint16_t>(words01 >> 32));
    protocol = static_cast<std::uint8_t>(words01 >> 48);
    tos_and_df = (std::uint64_t{swap16(static_cast<std::uint16_t>(words01))} << 4 & tos_bits) | df_bits;
  }
  if (length > length_available || (!ipv4 && length > 0xffff)) return false;
  std::size_t l4_size = 0;  // as the packet says: a TCP header with its options, or all of a UDP datagram
  std::uint64_t kind_and_flags = 0;
  constexpr auto kind_word = [](PacketKind kind, std::uint8_t of) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << 16 | std::uint64_t{of} << 24;
  };
  if (protocol == protocol_tcp) [[likely]] {
    const auto offset_and_flags = load<std::uint16_t>(l4 + 12);
    l4_size = (offset_and_flags & 0xf0U) >> 2;
    if (l4_size < tcp_size) return false;
    kind_and_flags = kind_word(PacketKind::tcp, protocol_tcp) | std::uint64_t{offset_and_flags & 0xff00U}
                                                                    << 24;
  } else if (protocol == protocol_udp) {
    l4_size = swap16(load<std::uint16_t>(l4 + 4));
    if (l4_size < udp_size) return false;
    kind_and_flags = kind_word(PacketKind::udp, protocol_udp);
  } else {
    return false;
  }
  if (ip_header + l4_size > length) return false;
  static_assert(static_cast<std::uint8_t>(Verdict::forward) == 0);
  auto* words = reinterpret_cast<std::uint8_t*>(&out);
  store(words, static_cast<std::uint8_t>(family) | kind_and_flags | tos_and_df);
  store(words + 8, length | std::uint64_t{ip_header} << 16 | std::uint64_t{ip_offset} << 48);
  store(words + 16, std::uint64_t{swap32(load<std::uint32_t>(l4))});
  store(words + 24, std::uint64_t{0});
  return true;
}

// Parses a packet as an ICMP error quotes it: cut anywhere behind the first 8 bytes of TCP or UDP, with whatever TTL
// and checksum it had on its way. True when it names a flow: family, protocol, ports and l4_offset are set then.
[[nodiscard]] bool parse_quote(std::span<const std::uint8_t> bytes, Family family, Packet& out);

// Source and destination address of a parsed packet: 4 or 16 bytes each, the destination behind the source.
[[nodiscard]] inline const std::uint8_t* source_address(const std::uint8_t* ip, Family family) {
  return ip + (family == Family::ipv4 ? 12 : 8);
}
[[nodiscard]] inline const std::uint8_t* destination_address(const std::uint8_t* ip, Family family) {
  return ip + (family == Family::ipv4 ? 16 : 24);
}

}  // namespace net
}  // namespace guideway
