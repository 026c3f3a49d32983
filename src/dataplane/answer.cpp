#include <array>
#include <cstring>

#include "dataplane/frame.h"
#include "dataplane/stages.h"
#include "net/icmp.h"

namespace guideway::stages {
namespace {

// What must be known of a packet before its frame is taken apart.
struct Asker {
  MacAddress mac;                              // the router that brought the packet
  std::array<std::uint8_t, 16> source, asked;  // its source, and the service address
};

Asker asker_of(const rte_mbuf& mbuf, const Packet& packet) {
  Asker asker{};
  const auto* frame = rte_pktmbuf_mtod(&mbuf, const std::uint8_t*);
  const std::uint8_t* ip = frame + packet.ip_offset;
  const std::size_t size = packet.family == Family::ipv4 ? 4 : 16;
  std::memcpy(asker.mac.data(), frame + 6, 6);
  std::memcpy(asker.source.data(), net::source_address(ip, packet.family), size);
  std::memcpy(asker.asked.data(), net::destination_address(ip, packet.family), size);
  return asker;
}

// Ethernet and IP headers of an answer of `length` ICMP bytes; where these begin.
std::uint8_t* write_headers(std::uint8_t* frame, const Link& link, const Asker& asker, Family family,
                            std::size_t length) {
  write_ethernet(frame, mac_word(asker.mac), link);
  std::uint8_t* ip = frame + link.size;
  net::write_icmp_ip(ip, family, asker.asked.data(), asker.source.data(), length);
  return ip + net::icmp_ip_size(family);
}

Verdict answer_echo(const PipelineParts& parts, Burst& burst, std::size_t i) {
  const Packet& packet = burst.parsed[i];
  const Link link(parts.ports.ports[burst.port], net::ethertype_of(packet.family));
  const Asker asker = asker_of(*burst.packets[i], packet);
  // The ICMP message alone: IP options and extension headers stay behind.
  Packet message = packet;
  message.ip_offset = static_cast<std::uint16_t>(packet.ip_offset + packet.l4_offset);
  message.ip_length = static_cast<std::uint16_t>(packet.l4_length());
  std::uint8_t* frame =
      reframe(burst.packets[i], message, link.size + net::icmp_ip_size(packet.family), parts.mbufs);
  if (frame == nullptr) return Verdict::drop_no_buffer;
  std::uint8_t* icmp = write_headers(frame, link, asker, packet.family, message.ip_length);
  // RFC 1624: only the word of type and code changes; a checksum that was wrong stays wrong.
  const auto before = net::load<std::uint16_t>(icmp);
  icmp[0] = packet.family == Family::ipv4 ? net::icmp_echo_reply : net::icmpv6_echo_reply;
  const auto after = net::load<std::uint16_t>(icmp);
  const std::uint16_t old = net::load<std::uint16_t>(icmp + 2);
  net::store(icmp + 2, net::ChecksumSum{}
                           .add(static_cast<std::uint16_t>(~old))
                           .add(static_cast<std::uint16_t>(~before))
                           .add(after)
                           .checksum());
  return Verdict::answer;
}

Verdict answer_too_big(const PipelineParts& parts, Burst& burst, std::size_t i) {
  const Packet& packet = burst.parsed[i];
  const Link link(parts.ports.ports[burst.port], net::ethertype_of(packet.family));
  const Family family = packet.family;
  const Asker asker = asker_of(*burst.packets[i], packet);
  const std::size_t ip_size = net::icmp_ip_size(family);
  const std::size_t size_max = family == Family::ipv4 ? net::icmp_error_size_max : net::icmpv6_error_size_max;
  Packet quote = packet;
  quote.ip_length = static_cast<std::uint16_t>(
      std::min<std::size_t>(packet.ip_length, size_max - ip_size - net::icmp_size));
  std::uint8_t* frame = reframe(burst.packets[i], quote, link.size + ip_size + net::icmp_size, parts.mbufs);
  if (frame == nullptr) return Verdict::drop_no_buffer;
  const std::size_t length = net::icmp_size + quote.ip_length;
  std::uint8_t* icmp = write_headers(frame, link, asker, family, length);
  const std::uint16_t mtu = burst.answer_mtu[i];
  if (family == Family::ipv4) {
    net::store_be32(icmp, std::uint32_t{net::icmp_unreachable} << 24 |
                              std::uint32_t{net::icmp_fragmentation_needed} << 16);
  } else {
    net::store_be32(icmp, std::uint32_t{net::icmpv6_packet_too_big} << 24);
  }
  net::store_be32(icmp + 4, mtu);
  // The quote may lie in several segments.
  std::array<std::uint8_t, net::icmpv6_error_size_max> gathered;
  const auto offset = static_cast<std::uint32_t>(icmp - frame);
  const auto* message = static_cast<const std::uint8_t*>(
      rte_pktmbuf_read(burst.packets[i], offset, static_cast<std::uint32_t>(length), gathered.data()));
  net::store(icmp + 2,
             net::icmp_pseudo_header(family, icmp - ip_size, length).add({message, length}).checksum());
  return Verdict::answer;
}

}  // namespace

void answer(const PipelineParts& parts, Burst& burst) {
  // Mostly there is none.
  if (std::memchr(burst.verdict.data(), static_cast<int>(Verdict::answer), burst.size) == nullptr) [[likely]]
    return;
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::answer) continue;
    burst.verdict[i] =
        burst.answer_mtu[i] == 0 ? answer_echo(parts, burst, i) : answer_too_big(parts, burst, i);
    burst.egress[i] = burst.port;
  }
}

}  // namespace guideway::stages
