#include <gtest/gtest.h>

#include "snapshot/next_hops.h"

namespace guideway {
namespace {

TEST(NextHops, ACellKeepsWhatWasSet) {
  NextHops next_hops;
  const NextHopIndex one = next_hops.index_of(IpAddress::parse("10.0.0.1").value()).value();
  const NextHopIndex two = next_hops.index_of(IpAddress::parse("fd00::1").value()).value();
  EXPECT_NE(one, two);
  EXPECT_EQ(next_hops.index_of(IpAddress::parse("10.0.0.1").value()), one);
  EXPECT_EQ(next_hops.get(one), NextHop{});
  const NextHop set{NextHop::State::resolved, 31, {0xff, 1, 2, 3, 4, 0xfe}, true};
  next_hops.set(one, set);
  EXPECT_EQ(next_hops.get(one), set);
  EXPECT_EQ(next_hops.get(two), NextHop{});
}

TEST(NextHops, AFullTableSaysSo) {
  NextHops next_hops;
  IpAddress address;
  for (std::size_t i = 0; i < NextHops::capacity; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte)
      address.bytes[byte] = static_cast<std::uint8_t>(i >> (8 * byte));
    ASSERT_TRUE(next_hops.index_of(address).has_value());
  }
  address.bytes = {0xff, 0xff, 0xff, 0xff};
  EXPECT_EQ(next_hops.index_of(address), std::nullopt);
}

}  // namespace
}  // namespace guideway
