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
  const char* description;
  Family inner, outer;
  std::uint8_t hops;
  std::uint8_t tos;
};

class Gue : public ::testing::TestWithParam<GueCase> {};

TEST_P(Gue, FrameIsTheDesignsBytes) {
  const GueCase& c = GetParam();
  DirectorForTests director(c.outer);
  Row row{{2, 0, 3}, 1};
  for (std::size_t i = c.hops; i < 3; ++i) row.hop[i] = no_member;
  director.pool.rows.assign(251, row);

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

INSTANTIATE_TEST_SUITE_P(
    Families, Gue,
    ::testing::Values(GueCase{"4 in 4, one hop", Family::ipv4, Family::ipv4, 1, 0},
                      GueCase{"4 in 4, two hops", Family::ipv4, Family::ipv4, 2, 0},
                      GueCase{"4 in 4, three hops, CE", Family::ipv4, Family::ipv4, 3, 3},
                      GueCase{"6 in 4, three hops, EF", Family::ipv6, Family::ipv4, 3, 0xb8},
                      GueCase{"6 in 4, one hop", Family::ipv6, Family::ipv4, 1, 0},
                      GueCase{"4 in 6, one hop", Family::ipv4, Family::ipv6, 1, 0},
                      GueCase{"4 in 6, three hops, ECT(1)", Family::ipv4, Family::ipv6, 3, 1},
                      GueCase{"6 in 6, two hops, all bits", Family::ipv6, Family::ipv6, 2, 0xff},
                      GueCase{"6 in 6, three hops", Family::ipv6, Family::ipv6, 3, 0}),
    [](const auto& tested) { return "case" + std::to_string(tested.index); });

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
  director.pool.rows.assign(251, Row{{0, 1, no_member}, 1});
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
