#include "net/gue.h"

#include <gtest/gtest.h>

#include "tests/net/exact_bytes.h"
#include "tests/packets.h"

namespace guideway::testing {
namespace {

TEST(Gue, SourcePortAndFlowLabelAreTheHashsTopBits) {
  EXPECT_EQ(net::gue_source_port(0), 0xc000);
  EXPECT_EQ(net::gue_source_port(~std::uint64_t{0}), 0xffff);
  EXPECT_EQ(net::gue_source_port(std::uint64_t{1} << 50), 0xc001);
  EXPECT_EQ(net::gue_source_port((std::uint64_t{1} << 50) - 1), 0xc000);
  EXPECT_EQ(net::outer_flow_label(0), 1U);
  EXPECT_EQ(net::outer_flow_label(~std::uint64_t{0}), 0xfffffU);
  EXPECT_EQ(net::outer_flow_label(std::uint64_t{1} << 44), 1U);
  EXPECT_EQ(net::outer_flow_label(std::uint64_t{2} << 44), 2U);
}

TEST(Gue, WhatIsWrittenIsReadBack) {
  const IpAddress source = address("fd00::1");
  std::array<IpAddress, 3> hops = {address("fd00::2"), address("fd00::3"), address("fd00::4")};
  for (std::size_t further = 0; further <= 2; ++further) {
    net::GueOuter outer;
    outer.ip.family = Family::ipv6;
    outer.ip.source = source.bytes.data();
    outer.ip.destination = hops[0].bytes.data();
    outer.further_count = further;
    outer.inner_length = 100;
    Bytes bytes(net::gue_outer_size(Family::ipv6, further));
    net::write_gue_outer(bytes.data(), outer, [&](std::size_t n) { return hops[1 + n].bytes.data(); });
    const ExactBytes payload({bytes.data() + 48, bytes.size() - 48});
    const auto header = net::parse_gue(payload.span());
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->hop_count, further);
    EXPECT_EQ(header->size, 8 + 16 * further);
    EXPECT_EQ(header->hop_family, Family::ipv6);
  }
}

TEST(Gue, WhatIsNotADirectorsHeader) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"cut short", "0104 0000 0000 00"},
      {"version 1", "4104 0000 0000 0000"},
      {"a control message", "2104 0000 0000 0000"},
      {"flags", "0104 0001 0000 0000"},
      {"another protocol inside", "0106 0000 0000 0000"},
      {"an unknown private type", "0104 0000 0002 0000"},
      {"more hops than the length holds", "0104 0000 0000 0001 0a00 0001"},
      {"fewer hops than the length says", "0204 0000 0000 0000 0a00 0001"},
      {"hops beyond the end", "0204 0000 0000 0001 0a00"},
  };
  for (const auto& [description, hex] : cases) {
    const ExactBytes payload(from_hex(hex));
    EXPECT_FALSE(net::parse_gue(payload.span()).has_value()) << description;
  }
  const ExactBytes good(from_hex("0204 0000 0000 0001 0a00 0001"));
  EXPECT_TRUE(net::parse_gue(good.span()).has_value());
}

}  // namespace
}  // namespace guideway::testing
