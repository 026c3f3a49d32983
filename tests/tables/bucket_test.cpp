// Algorithms that know numbers: modulo, jump, anchor, memento, multi-probe; figures and refusals.
#include <gtest/gtest.h>

#include "tables/algorithms/jump.h"
#include "tables/xxh3.h"
#include "tests/tables/figure_nodes.h"

namespace guideway {
namespace {

const Algorithm& named(std::string_view name) { return *find_algorithm(name).value(); }

TEST(Modulo, OneMoreNodeMovesNearlyAllKeys) {
  const struct {
    std::size_t from, to;
    double moved;
  } cases[] = {{9, 10, 0.9000}, {4, 5, 0.8000}, {10, 11, 0.9091}};
  for (const auto& c : cases) {
    const PlacementPtr before = place(named("modulo"), equal_nodes(c.from)).value();
    const PlacementPtr after = place_after(*before, equal_nodes(c.to)).value();
    int moved = 0;
    const int all = static_cast<int>(c.from * c.to);  // each pair of remainders once: exact
    for (int key = 0; key < all; ++key) moved += before->owner(key) != after->owner(key);
    EXPECT_NEAR(static_cast<double>(moved) / all, c.moved, 0.00005) << c.from << " to " << c.to;
  }
}

TEST(Jump, KnownBuckets) {
  const struct {
    std::uint64_t key;
    std::uint32_t buckets, bucket;
  } cases[] = {{1, 1, 0},
               {42, 57, 43},
               {0xDEAD10CC, 1, 0},
               {0xDEAD10CC, 666, 361},
               {256, 1024, 520},
               {0, 1, 0},
               {0, 2, 0},
               {10863919174838991, 11, 6},
               {2016238256797177309, 11, 3},
               {1673758223894951030, 11, 5},
               {2, 100001, 80343},
               {2201, 100001, 22152},
               {2202, 100001, 15018}};
  for (const auto& c : cases) EXPECT_EQ(jump_bucket(c.key, c.buckets), c.bucket) << c.key << ' ' << c.buckets;
}

TEST(Jump, OneMoreBucketMovesItsShareAndNeverToAnOldOne) {
  const auto keys = random_keys(100000, 7);
  for (const std::uint32_t buckets : {1U, 2U, 9U, 99U}) {
    double moved = 0;
    for (const std::uint64_t key : keys) {
      const std::uint32_t before = jump_bucket(key, buckets), after = jump_bucket(key, buckets + 1);
      if (before == after) continue;
      EXPECT_EQ(after, buckets);
      ++moved;
    }
    const double share = 1.0 / (buckets + 1), count = static_cast<double>(keys.size());
    EXPECT_NEAR(moved / count, share, 5 * std::sqrt(share / count)) << buckets;
  }
}

TEST(Jump, OnlyTheNodeThatCameLastMayGo) {
  const PlacementPtr two = place(named("jump"), {{"b"}, {"c"}}).value();
  const PlacementPtr three = place_after(*two, {{"a"}, {"b"}, {"c"}}).value();
  const auto refused = place_after(*three, {{"a"}, {"b"}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::refused);
  EXPECT_EQ(
      refused.error().text(),
      "jump can only lose the backend that came last, a, not c; remove the later ones first, or use memento, "
      "which jumps and forgets");
  EXPECT_TRUE(place_after(*three, {{"b"}, {"c"}}).has_value()) << "a came last, whatever its name";
  EXPECT_TRUE(place_after(*three, {{"b"}}).has_value()) << "and c before it";
  EXPECT_TRUE(place_after(*three, {{"b"}, {"c"}, {"d"}}).has_value()) << "replaced";
}

// Removals in any order, then returns in another: movement is minimal at each step, and shares stay even.
TEST(AnchorAndMemento, MoveMinimallyOverALongHistory) {
  const auto keys = random_keys(30000, 11);
  for (const char* name : {"anchor", "memento"}) {
    std::mt19937_64 random(13);
    std::vector<Node> nodes = equal_nodes(60), away;
    PlacementPtr placement = place(named(name), nodes).value();
    for (int step = 0; step < 120; ++step) {
      const bool comes = !away.empty() && (nodes.size() < 5 || random() % 100 < (step < 60 ? 25U : 70U));
      std::vector<Node>& from = comes ? away : nodes;
      const auto pick = from.begin() + static_cast<std::ptrdiff_t>(random() % from.size());
      const Node changed = *pick;
      from.erase(pick);
      (comes ? nodes : away).push_back(changed);
      PlacementPtr next = place_after(*placement, nodes).value();
      for (const std::uint64_t key : keys) {
        const std::string& was = placement->nodes()[placement->owner(key)].name;
        const std::string& is = next->nodes()[next->owner(key)].name;
        ASSERT_TRUE(was == is || (comes ? is : was) == changed.name) << name << " at step " << step;
      }
      placement = std::move(next);
    }
    std::vector<double> load(placement->nodes().size());
    for (const std::uint64_t key : keys) ++load[placement->owner(key)];
    const double noise = std::sqrt(static_cast<double>(load.size()) / static_cast<double>(keys.size()));
    EXPECT_NEAR(spread_of(load).deviation, noise, 0.4 * noise) << name << ": as even as chance allows";
  }
}

TEST(Anchor, RefusesMoreThanItsCapacity) {
  const PlacementPtr full = place(named("anchor"), equal_nodes(4), {.capacity = 4}).value();
  const auto refused = place_after(*full, equal_nodes(5));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().text(),
            "anchor has room for 4 backends, and there are 5; begin anew with a capacity of up to 65535");
  EXPECT_FALSE(place(named("anchor"), equal_nodes(5), {.capacity = 4}).has_value());
}

TEST(Memento, IsJumpWhereNobodyWent) {
  const PlacementPtr jump = place(named("jump"), equal_nodes(37)).value();
  const PlacementPtr memento = place(named("memento"), equal_nodes(37)).value();
  for (const std::uint64_t key : random_keys(1000, 3)) EXPECT_EQ(jump->owner(key), memento->owner(key));
}

// The exact share of each node for independent probes. Of all probes at a distance above u from their successor, the
// share is S(u) = sum of max(0, gap - u); where all K are, those at the least distance are spread evenly over the
// nodes whose gap is above u. S is a straight line between gaps, so each piece integrates in closed form.
std::vector<double> multi_probe_shares(std::vector<double> gaps, double probes) {
  std::sort(gaps.begin(), gaps.end());
  std::vector<double> shares;
  double above = 1, so_far = 0, last = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const auto longer = static_cast<double>(gaps.size() - i);
    const double next = std::max(0.0, above - (gaps[i] - last) * longer);
    so_far += (std::pow(above, probes) - std::pow(next, probes)) / longer;
    shares.push_back(so_far);
    above = next;
    last = gaps[i];
  }
  return shares;
}

std::vector<double> gaps_of_points(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> points;
  for (const Node& node : equal_nodes(count)) points.push_back(xxh3(node.name, seed));
  std::sort(points.begin(), points.end());
  std::vector<double> gaps;
  for (std::size_t i = 0; i < count; ++i) {
    gaps.push_back(std::ldexp(static_cast<double>(points[i] - points[i == 0 ? count - 1 : i - 1]), -64));
  }
  return gaps;
}

TEST(MultiProbe, TwentyOneProbesFillTheFullestTo105PercentWhateverTheNumber) {
  for (const std::size_t count : {10U, 30U, 100U, 1000U, 6000U}) {
    const int seeds = count < 1000 ? 400 : 20;
    double peak = 0, least = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      const auto shares = multi_probe_shares(gaps_of_points(count, seed), 21);
      peak += shares.back() * static_cast<double>(count) / seeds;
      least += shares.front() * static_cast<double>(count) / seeds;
    }
    EXPECT_NEAR(peak, 21.0 / 20, 0.01) << count;
    if (count != 100) continue;
    EXPECT_NEAR(least, 0.17, 0.02) << "the emptiest is far below its share";
  }
}

TEST(MultiProbe, KeysFallAsTheFormulaSays) {
  constexpr std::size_t count = 20, key_count = 40000;
  const PlacementPtr placement = place(named("multi-probe"), equal_nodes(count), {.seed = 4}).value();
  std::vector<double> load(count);
  for (const std::uint64_t key : random_keys(key_count, 5)) load[placement->owner(key)] += 1.0 / key_count;
  std::sort(load.begin(), load.end());
  auto shares = multi_probe_shares(gaps_of_points(count, 4), 21);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_NEAR(load[i], shares[i], 5 * std::sqrt(shares[i] / key_count)) << i;
  }
  EXPECT_FALSE(place(named("multi-probe"), equal_nodes(2), {.probes = 1}).has_value());
}

}  // namespace
}  // namespace guideway
