// Fuzz: the parsers of packets, on heap buffers of exact size.
// What: the first byte says what the rest is (a frame, an IPv4 or IPv6 packet, a GUE header); whatever is found must
//       lie within the bytes.
#include <cstdint>
#include <cstdlib>

#include "net/ethernet.h"
#include "net/gue.h"
#include "net/packet.h"
#include "tests/net/exact_bytes.h"

namespace {

using namespace guideway;

void require(bool holds) {
  if (!holds) std::abort();
}

void parse_packet(std::span<const std::uint8_t> bytes, Family family, bool checksum_known_good,
                  std::size_t beyond) {
  Packet packet;
  const std::size_t length = bytes.size() + beyond;
  const Verdict verdict = net::parse_ip(bytes, length, family, checksum_known_good, packet);
  Packet plain;
  if (net::parse_plain(bytes, length, family, checksum_known_good, 0, plain))
    require(verdict == Verdict::forward && plain == packet);
  if (verdict != Verdict::forward) return;
  require(packet.family == family);
  require(packet.ip_length <= length);
  require(packet.l4_offset <= packet.ip_length);
  if (packet.l4 != Verdict::forward)
    require(packet.kind == PacketKind::other || packet.kind == PacketKind::fragment);
  const std::size_t l4_size = packet.kind == PacketKind::tcp ? net::tcp_size : net::udp_size;
  if (packet.kind == PacketKind::tcp || packet.kind == PacketKind::udp || packet.kind == PacketKind::icmp)
    require(packet.l4_length() >= l4_size && packet.l4_offset + l4_size <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const testing::ExactBytes exact({data + 1, size - 1});
  const auto bytes = exact.span();
  switch (data[0] % 6) {
    case 0: {
      net::EthernetHeader header;
      if (!net::parse_ethernet(bytes, header)) break;
      require(header.payload_offset <= bytes.size());
      if (header.ethertype == net::ethertype_ipv4)
        parse_packet(bytes.subspan(header.payload_offset), Family::ipv4, false, 0);
      if (header.ethertype == net::ethertype_ipv6)
        parse_packet(bytes.subspan(header.payload_offset), Family::ipv6, false, 0);
      break;
    }
    case 1:
      parse_packet(bytes, Family::ipv4, true, 0);
      break;
    case 2:
      parse_packet(bytes, Family::ipv6, true, 0);
      break;
    case 3:
      parse_packet(bytes, Family::ipv4, true, 2000);
      break;
    case 4:
      parse_packet(bytes, Family::ipv6, true, 2000);
      break;
    case 5:
      if (const auto gue = net::parse_gue(bytes)) require(gue->size <= bytes.size());
      break;
  }
  return 0;
}
