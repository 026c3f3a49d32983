#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

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

std::vector<IpAddress> addresses(std::uint32_t first, std::uint32_t count) {
  std::vector<IpAddress> out(count);
  for (std::uint32_t i = 0; i < count; ++i)
    for (unsigned byte = 0; byte < 4; ++byte)
      out[i].bytes[byte] = static_cast<std::uint8_t>((first + i) >> (8 * byte));
  return out;
}

TEST(NextHops, AddressesComeAndGoWithoutEnd) {
  NextHops next_hops;
  std::optional<NextHopLease> newest;
  for (std::uint32_t first = 0; first < 3 * NextHops::capacity; first += 50'000) {
    auto held = next_hops.hold(addresses(first, 50'000));
    ASSERT_TRUE(held) << first;
    newest = std::move(held);  // those before go only now
  }
  EXPECT_TRUE(next_hops.hold(addresses(0, NextHops::capacity - 50'000)));
}

TEST(NextHops, ACellIsItsAddresssAsLongAsAnybodyHoldsIt) {
  NextHops next_hops;
  const NextHop set{NextHop::State::resolved, 3, {2, 0, 0, 0, 0, 9}, false};
  auto snapshot = next_hops.hold(addresses(7, 1)), book = next_hops.hold(addresses(7, 1));
  const NextHopIndex cell = (*snapshot)[0];
  EXPECT_EQ((*book)[0], cell);
  next_hops.set(cell, set);
  book.reset();
  EXPECT_EQ(next_hops.get(cell), set) << "workers may still send there";
  EXPECT_NE((*next_hops.hold(addresses(8, 1)))[0], cell);
  book = next_hops.hold(addresses(7, 1));
  EXPECT_EQ((*book)[0], cell);
  book.reset();
  snapshot.reset();
  EXPECT_EQ(next_hops.get(cell), NextHop{}) << "what it is given to next has no MAC yet";
}

TEST(NextHops, WhatHasNoRoomHoldsNothing) {
  NextHops next_hops;
  auto most = next_hops.hold(addresses(0, NextHops::capacity - 1));
  ASSERT_TRUE(most);
  EXPECT_FALSE(next_hops.hold(addresses(NextHops::capacity - 1, 2)));
  EXPECT_TRUE(next_hops.hold(addresses(NextHops::capacity, 1)));
  const auto twice = next_hops.hold(addresses(0, 2));
  ASSERT_TRUE(twice);
  most = std::move(*next_hops.hold({}));
  EXPECT_TRUE(next_hops.hold(addresses(NextHops::capacity, NextHops::capacity - 2)));
}

TEST(NextHops, ALeaseMayOutliveTheTable) {
  auto table = std::make_unique<NextHops>();
  auto held = table->hold(addresses(0, 3));
  table.reset();
  held.reset();
}

}  // namespace
}  // namespace guideway
