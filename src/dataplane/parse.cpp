#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "dataplane/frame.h"
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

// How much of a frame is gathered while a header lies in a further segment: what all but odd chains of headers fit
// into, then what an mbuf holds.
constexpr std::array<std::size_t, 2> gathered_bytes{256, RTE_MBUF_DEFAULT_DATAROOM};

Verdict parse_ip_of(const PipelineParts& parts, const PortView& port, rte_mbuf*& mbuf, std::size_t offset,
                    Family family, Packet& packet) {
  const bool good = checksum_known_good(port, *mbuf);
  const std::size_t available = mbuf->pkt_len - offset;
  const auto parse_at_hand = [&] {
    const std::span<const std::uint8_t> bytes(rte_pktmbuf_mtod(mbuf, const std::uint8_t*), mbuf->data_len);
    return net::parse_ip(bytes.subspan(offset), available, family, good, packet);
  };
  Verdict verdict = parse_at_hand();
  for (const std::size_t size : gathered_bytes) {
    if (verdict != Verdict::drop_truncated) [[likely]]
      break;
    if (!gather(mbuf, size, parts.mbufs)) return Verdict::drop_no_buffer;
    verdict = parse_at_hand();
  }
  packet.ip_offset = static_cast<std::uint16_t>(offset);
  if (verdict != Verdict::drop_truncated) return verdict;
  // A chain of extension headers longer than an mbuf.
  packet.kind = PacketKind::other;
  packet.l4 = Verdict::drop_bad_extension;
  return Verdict::forward;
}

// `forward`: `out` is the header, and it lies in the first segment.
Verdict parse_link(const PipelineParts& parts, rte_mbuf*& mbuf, net::EthernetHeader& out) {
  const auto parse_at_hand = [&] {
    return net::parse_ethernet({rte_pktmbuf_mtod(mbuf, const std::uint8_t*), mbuf->data_len}, out)
               ? Verdict::forward
               : Verdict::drop_truncated;
  };
  const Verdict verdict = parse_at_hand();
  if (verdict == Verdict::forward || mbuf->nb_segs == 1) [[likely]]
    return verdict;
  return gather(mbuf, net::ethernet_size_max, parts.mbufs) ? parse_at_hand() : Verdict::drop_no_buffer;
}

// Whatever the frame may be.
[[gnu::noinline]] Verdict parse_frame(const PipelineParts& parts, const PortView& port, rte_mbuf*& mbuf,
                                      Packet& packet, KeyBytes& key) {
  packet.kind = PacketKind::other;  // until an IP packet is found
  net::EthernetHeader ethernet;
  if (const Verdict link = parse_link(parts, mbuf, ethernet); link != Verdict::forward) return link;
  const auto* frame = rte_pktmbuf_mtod(mbuf, const std::uint8_t*);
  if (net::is_multicast(frame)) return Verdict::kernel;
  if (!is_ours(port, frame)) return Verdict::drop_other_mac;
  if (ethernet.ethertype != ethertype_ipv4 && ethernet.ethertype != ethertype_ipv6) return Verdict::kernel;
  const Family family = ethernet.ethertype == ethertype_ipv4 ? Family::ipv4 : Family::ipv6;
  const Verdict verdict = parse_ip_of(parts, port, mbuf, ethernet.payload_offset, family, packet);
  if (verdict != Verdict::forward) return verdict;
  const auto* ip = rte_pktmbuf_mtod_offset(mbuf, const std::uint8_t*, packet.ip_offset);
  write_key(key, family, net::source_address(ip, family), net::destination_address(ip, family),
            packet.source_port, packet.destination_port, packet.protocol);
  return verdict;
}

// What of a port is asked of every plain frame, in the form that it is compared in.
class PlainFrames {
 public:
  explicit PlainFrames(const PortView& port)
      : mac_(mac_word(port.mac) << 16),
        checksum_mask_(port.rx_ip_checksum ? RTE_MBUF_F_RX_IP_CKSUM_MASK : 0) {}

  // An untagged frame to us with a plain packet, which nearly all are. False: parse_frame's to judge.
  [[gnu::always_inline]] bool parse(const rte_mbuf& mbuf, Packet& packet, KeyBytes& key) const {
    const auto* frame = rte_pktmbuf_mtod(&mbuf, const std::uint8_t*);
    const std::span bytes(frame, mbuf.data_len);
    if (bytes.size() < net::ethernet_size + net::ipv4_size + net::tcp_size) return false;
    if (net::load<std::uint64_t>(frame) << 16 != mac_) return false;
    const auto ethertype = net::load<std::uint16_t>(frame + 12);
    const std::size_t beyond_link = mbuf.pkt_len - net::ethernet_size;
    const auto ip = bytes.subspan(net::ethernet_size);
    if (ethertype == net::swap16(ethertype_ipv4)) [[likely]] {
      const bool good = (mbuf.ol_flags & checksum_mask_) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
      return parse(ip, beyond_link, Family::ipv4, good, packet, key);
    }
    return ethertype == net::swap16(ethertype_ipv6) &&
           parse(ip, beyond_link, Family::ipv6, true, packet, key);
  }

 private:
  [[gnu::always_inline]] static bool parse(std::span<const std::uint8_t> ip, std::size_t available,
                                           Family family, bool good, Packet& packet, KeyBytes& key) {
    if (!net::parse_plain(ip, available, family, good, net::ethernet_size, packet)) return false;
    const std::size_t ip_header = family == Family::ipv4 ? net::ipv4_size : net::ipv6_size;
    write_key(key, family, net::source_address(ip.data(), family), ip.data() + ip_header, packet.protocol);
    return true;
  }

  std::uint64_t mac_;            // in the upper 48 bits
  std::uint64_t checksum_mask_;  // of ol_flags; 0 where they say nothing
};

// How many packets before its turn a frame is asked for, and what is in front of it, where the outer headers will stand.
constexpr std::size_t fetched_ahead = 6;

// Of what the source cut off nothing is known, whatever the rest looks like.
void drop_truncated(Burst& burst) {
  burst.fragments &= ~burst.truncated;
  burst.icmp &= ~burst.truncated;
  for (std::uint32_t left = burst.truncated; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    burst.parsed[i].kind = PacketKind::other;
    burst.verdict[i] = Verdict::drop_truncated;
  }
}

}  // namespace

void parse(const PipelineParts& parts, Burst& burst) {
  const PortView& port = parts.ports.ports[burst.port];
  const PlainFrames plain_frames(port);
  burst.quoted = burst.fragments = burst.icmp = 0;
  burst.verdict.fill(Verdict::forward);
  const std::size_t size = burst.size;
  std::uint64_t bytes_in = 0;
  const auto prefetch = [&](std::size_t i) {
    const auto* frame = rte_pktmbuf_mtod(burst.packets[i], const std::uint8_t*);
    rte_prefetch0(frame);
    rte_prefetch0(frame - 1);
  };
  for (std::size_t i = 0; i < std::min(size, fetched_ahead); ++i) prefetch(i);
  for (std::size_t i = 0; i < size; ++i) {
    if (i + fetched_ahead < size) prefetch(i + fetched_ahead);
    rte_mbuf*& mbuf = burst.packets[i];
    Packet& packet = burst.parsed[i];
    bytes_in += burst.bytes[i] = mbuf->pkt_len;
    if (plain_frames.parse(*mbuf, packet, burst.key[i])) [[likely]]
      continue;
    burst.verdict[i] = parse_frame(parts, port, mbuf, packet, burst.key[i]);
    if (burst.verdict[i] != Verdict::forward) continue;
    if (packet.kind == PacketKind::fragment) burst.fragments |= 1U << i;
    if (packet.kind == PacketKind::icmp) burst.icmp |= 1U << i;
  }
  burst.bytes_in = bytes_in;
  if (burst.truncated != 0) [[unlikely]]
    drop_truncated(burst);
}

}  // namespace guideway::stages
