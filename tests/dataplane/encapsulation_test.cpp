// IPIP, GRE and L2: the bytes of section 3 of the design for every combination of families and TOS values.
#include <gtest/gtest.h>

#include <set>

#include "guideway/flow.h"
#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

constexpr std::uint8_t tos_values[] = {0x00, 0x02, 0x03, 0x2e << 2, (0x2e << 2) | 1, 0xff};

struct TunnelCase {
  Encapsulation encapsulation;
  Family inner, outer;
};

std::vector<TunnelCase> tunnel_cases() {
  std::vector<TunnelCase> out;
  for (const Encapsulation encapsulation : {Encapsulation::ipip, Encapsulation::gre, Encapsulation::l2})
    for (const Family inner : {Family::ipv4, Family::ipv6})
      for (const Family outer : {Family::ipv4, Family::ipv6}) out.push_back({encapsulation, inner, outer});
  return out;
}

std::uint64_t tuple_hash(const Ip& header, std::uint64_t seed) {
  return flow_hash(FlowTuple{header.source, header.destination, 40000, 80, net::protocol_tcp}, seed);
}

// Written from the design's words, not from src/net.
Bytes expected_packet(const TunnelCase& c, const Bytes& inner, std::uint8_t tos, std::uint64_t hash,
                      const Bytes& source) {
  const bool ipv4_inside = c.inner == Family::ipv4;
  if (c.encapsulation == Encapsulation::l2) return inner;
  Bytes payload;
  if (c.encapsulation == Encapsulation::gre)
    append(payload, from_hex(ipv4_inside ? "0000 0800" : "0000 86dd"));
  append(payload, inner);
  const std::uint8_t protocol = c.encapsulation == Encapsulation::gre ? 47 : ipv4_inside ? 4 : 41;
  Ip outer;
  outer.source.family = outer.destination.family = c.outer;
  outer.protocol = protocol;
  outer.ttl = 64;
  outer.tos = tos;
  outer.id = 0;
  outer.fragment = 0x4000;
  const auto label = static_cast<std::uint32_t>(hash >> 44);
  outer.flow_label = label == 0 ? 1 : label;
  std::copy(source.begin(), source.end(), outer.source.bytes.begin());
  outer.destination = address(c.outer == Family::ipv4 ? "10.0.1.11" : "fd00:1::11");
  return ip(outer, payload);
}

TEST(Encapsulation, FrameIsTheDesignsBytes) {
  for (const TunnelCase& c : tunnel_cases()) {
    for (const std::uint8_t tos : tos_values) {
      for (const bool copy : {true, false}) {
        DirectorForTests director(c.outer);
        director.pool.encapsulation = c.encapsulation;
        director.pool.copy_tos = copy;
        Ip header = c.inner == Family::ipv4 ? Ip{} : ipv6();
        header.tos = tos;
        const Bytes inner = ip(header, tcp());
        const Outcome outcome = director.run(frame(inner, {.padding = 7}));
        ASSERT_EQ(name(outcome.verdict), "forward");
        EXPECT_EQ(outcome.port, DirectorForTests::lan);
        Link link;
        link.destination = DirectorForTests::backend_mac(0);
        link.source = director.ports.ports[DirectorForTests::lan].mac;
        EXPECT_EQ(outcome.frame, frame(expected_packet(c, inner, copy ? tos : std::uint8_t{0},
                                                       tuple_hash(header, director.pool.seed),
                                                       bytes_of(director.pool.outer_source)),
                                       link));
      }
    }
  }
}

TEST(Encapsulation, TheSourceSpreadsFlowsWhereNothingElseDoes) {
  for (const Encapsulation encapsulation : {Encapsulation::ipip, Encapsulation::gre}) {
    DirectorForTests director;
    director.pool.encapsulation = encapsulation;
    director.pool.outer_source = address("10.100.0.0");
    director.pool.outer_source_spread = 0xfff;
    std::set<Bytes> sources;
    for (std::uint16_t port = 1000; port < 1500; ++port) {
      const auto source_of = [&] {
        const Outcome outcome = director.run(frame(ip({}, tcp({.source_port = port}))));
        EXPECT_TRUE(net::checksum_holds({outcome.frame.data() + 14, 20}));
        return Bytes(outcome.frame.begin() + 26, outcome.frame.begin() + 30);
      };
      const Bytes source = source_of();
      EXPECT_EQ(source, source_of()) << "one flow, two sources";
      EXPECT_EQ(source[0], 10);
      EXPECT_EQ(source[1], 100);
      EXPECT_LT(source[2], 16);
      sources.insert(source);
    }
    EXPECT_GT(sources.size(), 450U);
  }
}

TEST(Encapsulation, GueHasItsPortToSpreadByAndKeepsItsSource) {
  DirectorForTests director;
  director.pool.outer_source_spread = 0xff;
  const Outcome outcome = director.run(frame(ip({}, tcp())));
  EXPECT_EQ(Bytes(outcome.frame.begin() + 26, outcome.frame.begin() + 30),
            bytes_of(director.pool.outer_source));
}

// One hop is all there is, so that a flow without an entry is learned from any packet.
TEST(Encapsulation, OneHopFlowsAreLearnedFromTheirMiddle) {
  for (const Encapsulation encapsulation : {Encapsulation::ipip, Encapsulation::gre, Encapsulation::l2}) {
    DirectorForTests director;
    director.pool.encapsulation = encapsulation;
    const Outcome first = director.run(frame(ip({}, tcp())));
    director.rows.assign(251, Row{{3, 0, no_member}, 1});
    const Outcome second = director.run(frame(ip({}, tcp())));
    EXPECT_EQ(first.frame, second.frame);
  }
}

TEST(Encapsulation, MtuIsThatBehindTheWrapping) {
  for (const TunnelCase& c : tunnel_cases()) {
    DirectorForTests director(c.outer);
    director.pool.encapsulation = c.encapsulation;
    director.ports.ports[DirectorForTests::lan].mtu = 1500;
    std::size_t room = 1500;
    if (c.encapsulation != Encapsulation::l2) room -= c.outer == Family::ipv4 ? 20 : 40;
    if (c.encapsulation == Encapsulation::gre) room -= 4;
    const Ip header = c.inner == Family::ipv4 ? Ip{} : ipv6();
    const std::size_t headers = (c.inner == Family::ipv4 ? 20 : 40) + 20;
    EXPECT_EQ(director.run(frame(ip(header, tcp({.payload = Bytes(room - headers)})))).verdict,
              Verdict::forward);
    const Outcome outcome = director.run(frame(ip(header, tcp({.payload = Bytes(room - headers + 1)}))));
    EXPECT_EQ(name(outcome.verdict), "answer");
    const std::size_t mtu_at = 14 + (c.inner == Family::ipv4 ? 20 : 40) + 4;
    EXPECT_EQ(net::load_be32(outcome.frame.data() + mtu_at), room);
  }
}

TEST(Encapsulation, L2ReachesNobodyBehindARouter) {
  DirectorForTests director;
  const auto& backend = director.pool.backends[0];
  director.next_hops.set(backend.next_hop, {NextHop::State::resolved, DirectorForTests::lan,
                                            DirectorForTests::backend_mac(0), true});
  EXPECT_EQ(director.run(frame(ip({}, tcp()))).verdict, Verdict::forward);
  director.pool.encapsulation = Encapsulation::l2;
  EXPECT_EQ(director.run(frame(ip({}, tcp()))).verdict, Verdict::drop_next_hop_unresolved);
}

}  // namespace
}  // namespace guideway::testing
