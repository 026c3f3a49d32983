#include "net/packet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/net/exact_bytes.h"
#include "tests/packets.h"

namespace guideway::testing {
namespace {

// Whatever the short way makes of a packet is what the long one does.
Verdict parse_both_ways(const Bytes& packet, bool checksum_known_good, Packet& out, bool& plain) {
  const ExactBytes exact(packet);
  const Family family = (packet[0] >> 4) == 6 ? Family::ipv6 : Family::ipv4;
  const Verdict verdict = net::parse_ip(exact.span(), packet.size(), family, checksum_known_good, out);
  Packet by_short_way;
  plain = net::parse_plain(exact.span(), packet.size(), family, checksum_known_good, 0, by_short_way);
  if (plain) {
    EXPECT_EQ(verdict, Verdict::forward);
    EXPECT_EQ(by_short_way, out);
  }
  return verdict;
}

Verdict parse(const Bytes& packet, Packet& out) {
  bool plain = false;
  return parse_both_ways(packet, false, out, plain);
}

TEST(Packet, Ipv4Tcp) {
  Ip header;
  header.tos = 0xb9;
  header.options = {1, 1, 1, 0};
  Packet packet;
  const Bytes bytes = ip(header, tcp({.source_port = 1, .destination_port = 65535, .flags = 0x12}));
  ASSERT_EQ(parse(bytes, packet), Verdict::forward);
  EXPECT_EQ(packet.kind, PacketKind::tcp);
  EXPECT_EQ(packet.source_port, 1);
  EXPECT_EQ(packet.destination_port, 65535);
  EXPECT_EQ(packet.tcp_flags, 0x12);
  EXPECT_EQ(packet.tos, 0xb9);
  EXPECT_EQ(packet.ip_length, bytes.size());
  EXPECT_EQ(packet.l4_offset, 24);
  EXPECT_TRUE(packet.dont_fragment());
  EXPECT_EQ(packet.l4, Verdict::forward);
}

TEST(Packet, Ipv6BehindExtensionHeaders) {
  Ip header = ipv6();
  header.tos = 0x2e;
  header.protocol = net::protocol_udp;
  header.first_header = net::protocol_hop_by_hop;
  header.options = from_hex("2c00 0104 0000 0000 1100 0000 0000 0007");
  Packet packet;
  ASSERT_EQ(parse(ip(header, udp({.destination_port = 53})), packet), Verdict::forward);
  EXPECT_EQ(packet.kind, PacketKind::udp);
  EXPECT_EQ(packet.destination_port, 53);
  EXPECT_EQ(packet.l4_offset, 56);
  EXPECT_EQ(packet.tos, 0x2e);
}

TEST(Packet, FragmentsSayWhereTheyBelong) {
  Ip header;
  header.fragment = 0x2000 | 0x00b9;
  Packet packet;
  ASSERT_EQ(parse(ip(header, Bytes(16)), packet), Verdict::forward);
  EXPECT_EQ(packet.kind, PacketKind::fragment);
  EXPECT_EQ(packet.fragment_offset, 0xb9 * 8);
  EXPECT_TRUE(packet.more_fragments);
  EXPECT_FALSE(packet.dont_fragment());

  Ip header6 = ipv6();
  header6.first_header = net::protocol_fragment;
  header6.options = from_hex("0600 0101 dead beef");
  ASSERT_EQ(parse(ip(header6, Bytes(16)), packet), Verdict::forward);
  EXPECT_EQ(packet.kind, PacketKind::fragment);
  EXPECT_EQ(packet.fragment_offset, 0x100);
  EXPECT_TRUE(packet.more_fragments);
  EXPECT_EQ(packet.fragment_id, net::swap32(0xdeadbeef));
}

TEST(Packet, AHeaderInAnotherSegmentIsAskedFor) {
  for (const Bytes& whole : {ip({}, tcp()), ip(ipv6(), tcp())}) {
    const std::size_t needed = (whole[0] >> 4 == 6 ? 40U : 20U) + 20U;
    for (std::size_t size = 0; size <= needed; ++size) {
      const ExactBytes start({whole.data(), size});
      Packet packet;
      const Family family = whole[0] >> 4 == 6 ? Family::ipv6 : Family::ipv4;
      const Verdict verdict = net::parse_ip(start.span(), whole.size(), family, false, packet);
      EXPECT_EQ(verdict, size == needed ? Verdict::forward : Verdict::drop_truncated) << size;
    }
  }
}

// Every good packet, cut at every length and with every byte changed: the parser never reads beyond the buffer
// (the sanitizer's word) and what it finds lies within it.
TEST(Packet, DamagedPacketsStayInside) {
  Ip chain = ipv6();
  chain.first_header = 0;
  chain.options = from_hex("2b00 0104 0000 0000 3c00 0000 0000 0000 0601 010c 0000 0000 0000 0000 0000 0000");
  Ip options;
  options.options = {1, 1, 1, 0};
  for (const Bytes& good : {ip({}, tcp()), ip(options, udp()), ip(ipv6(), tcp()), ip(chain, tcp())}) {
    for (std::size_t size = 0; size <= good.size(); ++size) {
      for (std::size_t at = 0; at < std::min<std::size_t>(size, 64); ++at) {
        for (const unsigned flip : {0x01U, 0x0fU, 0x80U, 0xffU}) {
          Bytes bad(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
          bad[at] = static_cast<std::uint8_t>(bad[at] ^ flip);
          const ExactBytes exact(bad);
          for (const Family family : {Family::ipv4, Family::ipv6}) {
            Packet packet;
            if (net::parse_ip(exact.span(), size, family, true, packet) != Verdict::forward) continue;
            ASSERT_LE(packet.ip_length, size);
            ASSERT_LE(packet.l4_offset, packet.ip_length);
          }
        }
      }
    }
  }
}

TEST(Packet, PlainOnesTakeTheShortWay) {
  for (Ip header : {Ip{}, ipv6()}) {
    for (const std::uint8_t protocol : {net::protocol_tcp, net::protocol_udp}) {
      header.protocol = protocol;
      const L4 l4{.payload = Bytes(12)};
      Packet packet;
      bool plain = false;
      const Bytes bytes = ip(header, protocol == net::protocol_tcp ? tcp(l4) : udp(l4));
      EXPECT_EQ(parse_both_ways(bytes, false, packet, plain), Verdict::forward);
      EXPECT_TRUE(plain) << header.source.text() << " " << int{protocol};
    }
  }
}

// Every field takes odd values, alone and with others, and every length is cut.
TEST(Packet, BothWaysAgreeOnDamagedOnes) {
  std::mt19937 random(1);
  std::size_t plain_ones = 0;
  for (int round = 0; round < 200'000; ++round) {
    Ip header = random() % 2 == 0 ? Ip{} : ipv6();
    const L4 l4{.payload = Bytes(random() % 40)};
    if (random() % 2 == 0) header.protocol = net::protocol_udp;
    Bytes bytes = ip(header, header.protocol == net::protocol_udp ? udp(l4) : tcp(l4));
    for (auto changes = random() % 4; changes > 0; --changes)
      bytes[random() % std::min<std::size_t>(bytes.size(), 60)] =
          static_cast<std::uint8_t>(random() % 3 == 0 ? random() : random() % 2 * 0xff);
    if (random() % 4 == 0) bytes.resize(1 + random() % bytes.size());
    Packet packet;
    bool plain = false;
    parse_both_ways(bytes, random() % 2 == 0, packet, plain);
    plain_ones += plain ? 1 : 0;
  }
  EXPECT_GT(plain_ones, 20'000U);
}

}  // namespace
}  // namespace guideway::testing
