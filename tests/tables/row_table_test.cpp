// Algorithms that deal rows: slots and GLB's figures, and who is left without a row.
#include <gtest/gtest.h>

#include <set>

#include "tables/algorithms/glb_rows.h"
#include "tables/algorithms/slots.h"
#include "tests/tables/figure_nodes.h"

namespace guideway {
namespace {

TEST(Slots, Crc16IsXmodems) {
  EXPECT_EQ(crc16("123456789"), 0x31C3);
  EXPECT_EQ(crc16(""), 0);
}

TEST(Slots, KnownSlotsAndHashTags) {
  const struct {
    const char* key;
    std::uint32_t slot;
  } cases[] = {{"foo", 12182},         {"bar", 5061},          {"hello", 866},
               {"{user1000}.x", 3443}, {"{user1000}.y", 3443}, {"a{foo}b{bar}c", 12182}};
  for (const auto& c : cases) EXPECT_EQ(slot_of(c.key), c.slot) << c.key;
  for (const char* untagged : {"foo{}{bar}", "foo{bar", "foo}bar", "{", ""}) {
    EXPECT_EQ(hash_tag(untagged), untagged) << "no tag: all of it decides";
  }
  EXPECT_EQ(hash_tag("foo{{bar}}zap"), "{bar");
}

TEST(Slots, FromNothingRangesAreContiguousAndAChangeMovesTheFewest) {
  const Algorithm& slots = *find_algorithm("slots").value();
  const PlacementPtr three = place(slots, {{"a"}, {"b"}, {"c"}}).value();
  const auto rows = three->rows();
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(three->owner(three->hash("foo")), rows[12182]);

  const PlacementPtr four = place_after(*three, {{"a"}, {"b"}, {"c"}, {"d"}}).value();
  std::size_t moved = 0;
  for (std::size_t slot = 0; slot < slot_count; ++slot) moved += rows[slot] != four->rows()[slot];
  EXPECT_EQ(moved, slot_count / 4);
  const PlacementPtr two = place_after(*four, {{"b"}, {"d"}}).value();
  std::size_t kept = 0;
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    kept += four->nodes()[four->rows()[slot]].name == two->nodes()[two->rows()[slot]].name;
  }
  EXPECT_EQ(kept, slot_count / 2) << "b and d keep the quarter that each had";
}

SipKey published_seed() {
  return {0x49, 0xa3, 0xd8, 0x61, 0xd6, 0x61, 0xae, 0x5a, 0xb0, 0x6e, 0xd9, 0x32, 0x68, 0x71, 0xa2, 0xf5};
}

std::uint64_t as_number(const SipDigest& digest) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : digest) number = number << 8 | byte;
  return number;
}

TEST(GlbRows, RowSeedsAndOrderOfFourHosts) {
  const struct {
    std::uint32_t row;
    std::uint64_t row_seed;
    std::vector<int> order;
  } cases[] = {{0, 0x491c53a72df4c837, {4, 3, 2, 1}},
               {0xffff, 0xf223c0cc65161620, {1, 2, 4, 3}},
               {0xbb44, 0xe290f8f430eb33d3, {4, 1, 2, 3}}};
  for (const auto& c : cases) {
    const SipDigest row_seed = glb_row_seed(published_seed(), c.row);
    EXPECT_EQ(as_number(row_seed), c.row_seed) << c.row;
    std::vector<int> order{1, 2, 3, 4};
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      const auto score = [&](int host) {
        return glb_score(published_seed(), row_seed, glb_identity(fmt::format("1.1.1.{}", host)));
      };
      return score(a) < score(b);
    });
    EXPECT_EQ(order, c.order) << c.row;
  }
}

TEST(GlbRows, ATableOf65536RowsAndASecondHop) {
  const PlacementPtr placement = place(*find_algorithm("glb-rows").value(), equal_nodes(16)).value();
  ASSERT_EQ(placement->rows().size(), 65536U);
  std::vector<double> load(16);
  for (const MemberIndex owner : placement->rows()) ++load[owner];
  EXPECT_NEAR(spread_of(load).deviation, std::sqrt(16.0 / 65536), 0.01) << "rows choose by themselves";
  const auto hops = replicas(*placement, 12345, 2).value();
  EXPECT_EQ(hops.front(), placement->rows()[12345]);
  EXPECT_NE(hops[0], hops[1]);
}

TEST(Rows, MoreBackendsThanRowsSaysWhoGetsNone) {
  const PlacementOptions options{.rows = 251};
  for (const char* name : {"maglev", "guideway"}) {
    const PlacementPtr placement = place(*find_algorithm(name).value(), equal_nodes(300), options).value();
    const auto without = nodes_without_rows(*placement);
    ASSERT_EQ(without.size(), 49U) << name;
    EXPECT_EQ(without.front(), 251) << name;
  }
  EXPECT_TRUE(nodes_without_rows(*place(*find_algorithm("ring").value(), equal_nodes(3)).value()).empty());
}

TEST(GlbRows, RefusesATableThatTakesTooLongBeforeItBegins) {
  const Algorithm& glb = *find_algorithm("glb-rows").value();
  const auto refused = place(glb, equal_nodes(4097));
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().text().find("4097 of them in 65536 rows take too long"), std::string::npos)
      << refused.error().text();
  EXPECT_EQ(refused.error().next, "use 4096 nodes at most, or fewer rows");
  EXPECT_TRUE(place(glb, equal_nodes(4097), {.rows = 257}).has_value());
}

TEST(Rows, AWrongNumberOfThemIsRefused) {
  for (const char* name : {"maglev", "guideway"}) {
    const auto refused = place(*find_algorithm(name).value(), equal_nodes(3), {.rows = 65536});
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(refused.error().text(), "rows 65536 is no prime; use 65521 or 65537");
    EXPECT_FALSE(place(*find_algorithm(name).value(), equal_nodes(3), {.rows = 4294967291}).has_value())
        << "before memory is taken for them";
  }
}

TEST(MaglevReplicas, AreTheOwnersOfTheRowsBehind) {
  const PlacementPtr placement =
      place(*find_algorithm("maglev").value(), equal_nodes(5), {.seed = 9, .rows = 251}).value();
  for (std::uint64_t key = 0; key < 251; ++key) {
    std::vector<MemberIndex> walk;
    for (std::size_t row = key; walk.size() < 3; row = (row + 1) % 251) {
      const MemberIndex owner = placement->rows()[row];
      if (std::find(walk.begin(), walk.end(), owner) == walk.end()) walk.push_back(owner);
    }
    EXPECT_EQ(replicas(*placement, key, 3).value(), walk);
  }
}

}  // namespace
}  // namespace guideway
