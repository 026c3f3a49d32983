#include <rte_prefetch.h>

#include <cstring>

#include "dataplane/stages.h"
#include "net/ethernet.h"

namespace guideway::stages {
namespace {

using net::ethertype_ipv4;
using net::ethertype_ipv6;

bool is_ours(const PortView& port, const std::uint8_t* mac) {
  return port.accept_any_mac || std::memcmp(mac, port.mac.data(), port.mac.size()) == 0;
}

bool checksum_known_good(const PortView& port, const rte_mbuf& mbuf) {
  return port.rx_ip_checksum && (mbuf.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
}

Verdict parse_ip_of(const PortView& port, rte_mbuf& mbuf, std::size_t offset, Family family, Packet& packet) {
  const auto bytes = [&] {
    return std::span<const std::uint8_t>(rte_pktmbuf_mtod(&mbuf, const std::uint8_t*), mbuf.data_len)
        .subspan(offset);
  };
  const bool good = checksum_known_good(port, mbuf);
  const std::size_t available = mbuf.pkt_len - offset;
  Verdict verdict = net::parse_ip(bytes(), available, family, good, packet);
  if (verdict == Verdict::drop_truncated) {
    // A header lies in a further segment.
    if (rte_pktmbuf_linearize(&mbuf) != 0) return Verdict::drop_no_buffer;
    verdict = net::parse_ip(bytes(), available, family, good, packet);
  }
  packet.ip_offset = static_cast<std::uint16_t>(offset);
  return verdict;
}

Verdict parse_frame(const PortView& port, rte_mbuf& mbuf, Packet& packet, KeyBytes& key) {
  net::EthernetHeader ethernet;
  const auto* frame = rte_pktmbuf_mtod(&mbuf, const std::uint8_t*);
  if (!net::parse_ethernet({frame, mbuf.data_len}, ethernet)) return Verdict::drop_truncated;
  if (net::is_multicast(frame)) return Verdict::kernel;
  if (!is_ours(port, frame)) return Verdict::drop_other_mac;
  if (ethernet.ethertype != ethertype_ipv4 && ethernet.ethertype != ethertype_ipv6) return Verdict::kernel;
  const Family family = ethernet.ethertype == ethertype_ipv4 ? Family::ipv4 : Family::ipv6;
  const Verdict verdict = parse_ip_of(port, mbuf, ethernet.payload_offset, family, packet);
  if (verdict != Verdict::forward) return verdict;
  const auto* ip = rte_pktmbuf_mtod_offset(&mbuf, const std::uint8_t*, packet.ip_offset);
  write_key(key, family, net::source_address(ip, family), net::destination_address(ip, family),
            packet.source_port, packet.destination_port, packet.protocol);
  return verdict;
}

}  // namespace

void parse(const PipelineParts& parts, Burst& burst) {
  const PortView& port = parts.ports.ports[burst.port];
  burst.quoted = 0;
  for (std::size_t i = 0; i < burst.size; ++i) rte_prefetch0(rte_pktmbuf_mtod(burst.packets[i], void*));
  for (std::size_t i = 0; i < burst.size; ++i) {
    rte_mbuf& mbuf = *burst.packets[i];
    burst.bytes[i] = mbuf.pkt_len;
    burst.service[i] = nullptr;
    burst.pool[i] = nullptr;
    burst.hops[i].count = 0;
    burst.parsed[i].kind = PacketKind::other;  // until an IP packet is found
    burst.verdict[i] = (burst.truncated >> i & 1) != 0
                           ? Verdict::drop_truncated
                           : parse_frame(port, mbuf, burst.parsed[i], burst.key[i]);
  }
}

}  // namespace guideway::stages
