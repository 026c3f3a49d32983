// The wire format of the design's section 3, byte by byte, for all four combinations of families.
#include <gtest/gtest.h>

#include <set>

#include "guideway/flow.h"
#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

std::uint64_t hash_of(const Ip& header, const L4& l4, std::uint64_t seed) {
  return flow_hash(
      FlowTuple{header.source, header.destination, l4.source_port, l4.destination_port, header.protocol},
      seed);
}

// Written from the design's words, not from net/gue.h.
Bytes expected_ipv4_outer(std::uint64_t hash, std::size_t inner_size, std::uint8_t protocol, std::uint8_t tos,
                          const std::vector<std::string>& hops) {
  Bytes gue = {static_cast<std::uint8_t>(hops.size()),    protocol, 0, 0, 0, 0, 0,
               static_cast<std::uint8_t>(hops.size() - 1)};
  for (std::size_t i = 1; i < hops.size(); ++i) append(gue, bytes_of(address(hops[i])));
  Bytes out;
  append16(out, 0x4500U | tos);
  append16(out, static_cast<std::uint32_t>(20 + 8 + gue.size() + inner_size));
  append16(out, 0);
  append16(out, 0x4000);
  append16(out, 0x4011);
  append16(out, 0);
  append(out, bytes_of(address("10.0.0.2")));
  append(out, bytes_of(address(hops[0])));
  fix_ipv4_checksum(out);
  append16(out, static_cast<std::uint32_t>(0xc000 | hash >> 50));
  append16(out, 19523);
  append16(out, static_cast<std::uint32_t>(8 + gue.size() + inner_size));
  append16(out, 0);
  append(out, gue);
  return out;
}

Bytes expected_ipv6_outer(std::uint64_t hash, std::size_t inner_size, std::uint8_t protocol, std::uint8_t tos,
                          const std::vector<std::string>& hops) {
  Bytes gue = {static_cast<std::uint8_t>(1 + 4 * (hops.size() - 1)),
               protocol,
               0,
               0,
               0,
               1,
               0,
               static_cast<std::uint8_t>(hops.size() - 1)};
  for (std::size_t i = 1; i < hops.size(); ++i) append(gue, bytes_of(address(hops[i])));
  Bytes out;
  const auto label = static_cast<std::uint32_t>(hash >> 44);
  append32(out, 6U << 28 | std::uint32_t{tos} << 20 | (label == 0 ? 1 : label));
  append16(out, static_cast<std::uint32_t>(8 + gue.size() + inner_size));
  out.push_back(17);
  out.push_back(64);
  append(out, bytes_of(address("fd00::2")));
  append(out, bytes_of(address(hops[0])));
  append16(out, static_cast<std::uint32_t>(0xc000 | hash >> 50));
  append16(out, 19523);
  append16(out, static_cast<std::uint32_t>(8 + gue.size() + inner_size));
  append16(out, 0);
  append(out, gue);
  return out;
}

struct GueCase {
  Family inner, outer;
  std::uint8_t hops;
  std::uint8_t tos;
};

void expect_designs_bytes(const GueCase& c) {
  DirectorForTests director(c.outer);
  Row row{{2, 0, 3}, 1};
  for (std::size_t i = c.hops; i < 3; ++i) row.hop[i] = no_member;
  director.rows.assign(251, row);

  Ip header = c.inner == Family::ipv4 ? Ip{} : ipv6();
  header.tos = c.tos;
  const L4 l4;
  const Bytes inner = ip(header, tcp(l4));
  const Outcome outcome = director.run(frame(inner));
  ASSERT_EQ(outcome.verdict, Verdict::forward);
  EXPECT_EQ(outcome.port, DirectorForTests::lan);

  const std::uint64_t hash = hash_of(header, l4, director.pool.seed);
  const std::string prefix = c.outer == Family::ipv4 ? "10.0.1." : "fd00:1::";
  std::vector<std::string> hops = {prefix + "13", prefix + "11", prefix + "14"};
  hops.resize(c.hops);
  const std::uint8_t protocol = c.inner == Family::ipv4 ? 4 : 41;
  const auto expected_outer = c.outer == Family::ipv4 ? expected_ipv4_outer : expected_ipv6_outer;
  Bytes packet = expected_outer(hash, inner.size(), protocol, c.tos, hops);
  append(packet, inner);
  const Link link{DirectorForTests::backend_mac(2), director.ports.ports[DirectorForTests::lan].mac, {}, 0};
  EXPECT_EQ(outcome.frame, frame(packet, link));
}

constexpr Family families[] = {Family::ipv4, Family::ipv6};

TEST(Gue, FrameIsTheDesignsBytes) {
  // Not ECT, ECT(0), CE, EF, EF with ECT(1), all bits.
  constexpr std::uint8_t gue_tos_values[] = {0x00, 0x02, 0x03, 0xb8, 0xb9, 0xff};
  for (const Family inner : families) {
    for (const Family outer : families) {
      for (const std::uint8_t tos : gue_tos_values) {
        for (std::uint8_t hops = 1; hops <= 3; ++hops) {
          SCOPED_TRACE(::testing::Message()
                       << "inner family " << (inner == Family::ipv4 ? 4 : 6) << ", outer "
                       << (outer == Family::ipv4 ? 4 : 6) << ", TOS " << int{tos} << ", hops " << int{hops});
          expect_designs_bytes({inner, outer, hops, tos});
        }
      }
    }
  }
}

// RFC 768 read word by word; 0 where the sum over everything, checksum included, holds.
std::uint16_t udp_sum(const Bytes& frame, Family outer) {
  const std::size_t ip = 14, addresses = outer == Family::ipv4 ? 12 : 8,
                    size = outer == Family::ipv4 ? 20 : 40;
  Bytes summed(frame.begin() + static_cast<std::ptrdiff_t>(ip + addresses), frame.end());
  append16(summed, 0);
  if (summed.size() % 2 != 0) summed.insert(summed.end() - 2, 0);
  append16(summed, net::protocol_udp);
  append16(summed, static_cast<std::uint32_t>(frame.size() - ip - size));
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < summed.size(); i += 2) sum += summed[i] * 256U + summed[i + 1];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// Whatever the length, and however the packet lies in its mbufs.
TEST(GueFrame, UdpChecksumWhereThePoolWantsIt) {
  for (const Family inner : families) {
    for (const Family outer : families) {
      DirectorForTests director(outer);
      const std::size_t field = 14 + (outer == Family::ipv4 ? 20U : 40U) + 6;
      for (const std::size_t payload : {0, 1, 2, 3, 501, 1400}) {
        Bytes bytes(payload);
        for (std::size_t i = 0; i < payload; ++i) bytes[i] = static_cast<std::uint8_t>(i * 11 + 3);
        const Bytes packet =
            frame(ip(inner == Family::ipv4 ? Ip{} : ipv6(), tcp({.payload = bytes})), {.padding = 3});
        director.pool.udp_checksum = false;
        Outcome outcome = director.run(packet);
        ASSERT_EQ(name(outcome.verdict), "forward");
        EXPECT_EQ(net::load_be16(outcome.frame.data() + field), 0U);
        director.pool.udp_checksum = true;
        for (const std::size_t segment : {2048, 200, 77, 1}) {
          outcome = director.run(packet, {.segment = segment});
          EXPECT_NE(net::load_be16(outcome.frame.data() + field), 0U) << "0 says that there is none";
          EXPECT_EQ(udp_sum(outcome.frame, outer), 0U) << payload << " bytes in segments of " << segment;
        }
      }
    }
  }
}

// A sum of 0 is sent as all ones: 0 would say that there is no checksum.
TEST(GueFrame, AUdpChecksumOfZeroIsSentAsAllOnes) {
  for (const Family outer : families) {
    DirectorForTests director(outer);
    director.pool.udp_checksum = true;
    const std::size_t field = 14 + (outer == Family::ipv4 ? 20U : 40U) + 6;
    Bytes payload(2);
    Outcome outcome = director.run(frame(ip({}, tcp({.payload = payload}))));
    // These two bytes bring the sum to where nothing is left.
    std::memcpy(payload.data(), outcome.frame.data() + field, 2);
    outcome = director.run(frame(ip({}, tcp({.payload = payload}))));
    EXPECT_EQ(net::load_be16(outcome.frame.data() + field), 0xffffU);
    EXPECT_EQ(udp_sum(outcome.frame, outer), 0U);
  }
}

TEST(GueFrame, UdpChecksumOfEachPiece) {
  DirectorForTests director;
  director.pool.udp_checksum = true;
  director.ports.ports[DirectorForTests::lan].mtu = 600;
  Ip header;
  header.fragment = 0;
  const Outcome outcome = director.run(frame(ip(header, tcp({.payload = Bytes(1401, 0x5a)}))));
  ASSERT_EQ(name(outcome.verdict), "forward");
  ASSERT_EQ(outcome.further.size(), 2U);
  EXPECT_EQ(udp_sum(outcome.frame, Family::ipv4), 0U);
  for (const Bytes& piece : outcome.further) EXPECT_EQ(udp_sum(piece, Family::ipv4), 0U);
}

TEST(GueFrame, OnlyGueHasAUdpChecksum) {
  for (const Encapsulation encapsulation : {Encapsulation::ipip, Encapsulation::gre, Encapsulation::l2}) {
    DirectorForTests plain, asked;
    plain.pool.encapsulation = asked.pool.encapsulation = encapsulation;
    asked.pool.udp_checksum = true;
    EXPECT_EQ(asked.run(frame(ip({}, tcp()))).frame, plain.run(frame(ip({}, tcp()))).frame);
  }
}

TEST(GueFrame, TosIsZeroWhereThePoolSaysSo) {
  DirectorForTests director;
  director.pool.copy_tos = false;
  Ip header;
  header.tos = 0xb9;
  const Outcome outcome = director.run(frame(ip(header, tcp())));
  ASSERT_EQ(outcome.verdict, Verdict::forward);
  EXPECT_EQ(outcome.frame[14 + 1], 0);
}

// The example frame of glb-director's backends: UDP destination, checksum, GUE header with one further hop.
TEST(GueFrame, MatchesGlbDirectorsExample) {
  DirectorForTests director;
  director.pool.backends[1].address = address("2.3.4.5");
  director.rows.assign(251, Row{{0, 1, no_member}, 1});
  const Bytes inner = ip({}, tcp({.payload = {}}));
  ASSERT_EQ(inner.size(), 40U);
  const Outcome outcome = director.run(frame(inner));
  ASSERT_EQ(outcome.verdict, Verdict::forward);
  const Bytes from_port(outcome.frame.begin() + 14 + 22, outcome.frame.begin() + 14 + 40);
  EXPECT_EQ(from_port, from_hex("4c43 003c 0000 0204 0000 0000 0001 0203 0405"));
}

TEST(GueFrame, SourcePortsSpread) {
  DirectorForTests director;
  std::set<std::uint32_t> ports;
  for (std::uint16_t port = 1024; port < 2048; ++port) {
    const Outcome outcome = director.run(frame(ip({}, tcp({.source_port = port}))));
    ASSERT_EQ(outcome.verdict, Verdict::forward);
    ports.insert(net::load_be16(outcome.frame.data() + 34));
    EXPECT_GE(*ports.rbegin(), 0xc000U);
  }
  EXPECT_GE(ports.size(), 950U);
}

TEST(GueFrame, EgressTagIsThePortsVlan) {
  DirectorForTests director;
  director.ports.ports[DirectorForTests::lan].vlan = 42;
  const Bytes inner = ip({}, tcp());
  const Link tagged{port_mac, router_mac, {{0x88a8, 7}, {0x8100, 8}}, 6};
  const Outcome outcome = director.run(frame(inner, tagged));
  ASSERT_EQ(outcome.verdict, Verdict::forward);
  EXPECT_EQ(Bytes(outcome.frame.begin() + 12, outcome.frame.begin() + 18), from_hex("8100 002a 0800"));
  EXPECT_EQ(outcome.frame.size(), 18 + 20 + 8 + 8 + 8 + inner.size());
  EXPECT_EQ(Bytes(outcome.frame.end() - static_cast<std::ptrdiff_t>(inner.size()), outcome.frame.end()),
            inner);
}

}  // namespace
}  // namespace guideway::testing
