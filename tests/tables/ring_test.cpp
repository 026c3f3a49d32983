// Rings: the search, the figures of the papers, weights and replicas.
#include "tables/algorithms/hash_ring.h"

#include <gtest/gtest.h>

#include "tables/algorithms/bounded_loads.h"
#include "tables/algorithms/envoy_ring.h"
#include "tables/algorithms/ketama.h"
#include "tables/algorithms/virtual_nodes.h"
#include "tests/tables/figure_nodes.h"

namespace guideway {
namespace {

// The first point at or behind the position, as one reads it off the rule.
MemberIndex owner_by_linear_scan(const std::vector<RingPoint>& points, std::uint64_t position) {
  const RingPoint* best = nullptr;
  const auto nearer = [&](const RingPoint& a, const RingPoint& b) {
    const std::uint64_t a_away = a.at - position, b_away = b.at - position;  // clockwise
    return a_away != b_away ? a_away < b_away : a.member < b.member;
  };
  for (const RingPoint& point : points) {
    if (best == nullptr || nearer(point, *best)) best = &point;
  }
  return best->member;
}

TEST(HashRing, BinarySearchIsALinearScanOverTwentyThousandRings) {
  std::mt19937_64 random(20000);
  for (int trial = 0; trial < 20000; ++trial) {
    // Few distinct places, so that points and keys meet; at both ends of the circle.
    const std::uint64_t places = trial % 2 == 0 ? 16 : ~std::uint64_t{0};
    std::vector<RingPoint> points(1 + random() % 12);
    for (RingPoint& point : points) {
      point = {.at = random() % places - 8, .member = static_cast<MemberIndex>(random() % 5)};
    }
    const HashRing ring(points);
    for (int key = 0; key < 8; ++key) {
      const std::uint64_t position = random() % places - 8;
      ASSERT_EQ(ring.owner(position), owner_by_linear_scan(points, position)) << trial;
    }
  }
}

TEST(HashRing, AKeyOnAPointIsThatPointsAndBehindTheLastComesTheFirst) {
  const HashRing ring({{.at = 10, .member = 0}, {.at = 20, .member = 1}, {.at = 30, .member = 2}});
  EXPECT_EQ(ring.owner(20), 1);
  EXPECT_EQ(ring.owner(21), 2);
  EXPECT_EQ(ring.owner(31), 0);
  EXPECT_EQ(ring.owner(~std::uint64_t{0}), 0);
  EXPECT_EQ(ring.owner(0), 0);
}

// Shares as lengths of arcs: no sampling of keys.
std::vector<double> arcs(const HashRing& ring, std::size_t nodes) {
  std::vector<double> length(nodes);
  for (std::size_t point = 0; point < ring.size(); ++point) {
    const std::size_t last = point == 0 ? ring.size() - 1 : point - 1;
    length[ring.member(point)] += static_cast<double>(ring.at(point) - ring.at(last));
  }
  return length;
}

TEST(Ring, AThousandNodesScatterAsTheJumpPaperTabulates) {
  const struct {
    std::uint32_t points;
    double deviation;
    int seeds;
  } cases[] = {{1, 0.998, 60}, {10, 0.315, 10}, {100, 0.0997, 3}, {1000, 0.0316, 1}};
  const auto nodes = equal_nodes(1000);
  for (const auto& c : cases) {
    Spread mean;
    for (int seed = 0; seed < c.seeds; ++seed) {
      const HashRing ring =
          virtual_nodes(nodes, {.seed = static_cast<std::uint64_t>(seed), .points = c.points}).value();
      const Spread spread = spread_of(arcs(ring, nodes.size()));
      mean.deviation += spread.deviation / c.seeds;
      mean.peak += spread.peak / c.seeds;
    }
    EXPECT_NEAR(mean.deviation, c.deviation, 0.03 * c.deviation) << c.points << " points";
    if (c.points < 100) continue;  // the formula is for many points
    const double peak = 1 + std::sqrt(2 * std::log(1000) / c.points);
    EXPECT_NEAR(mean.peak, peak, 0.2 * (peak - 1)) << c.points << " points";
  }
}

TEST(Ring, TwiceTheWeightIsHalfOfAHundredAHundredAndTwoHundred) {
  const std::vector<Node> nodes{{"a", 100}, {"b", 100}, {"c", 200}};
  const HashRing ring = virtual_nodes(nodes, {.points = 2000}).value();
  const auto length = arcs(ring, nodes.size());
  EXPECT_NEAR(length[2] / (length[0] + length[1] + length[2]), 0.5, 0.03);
}

TEST(Ring, ReplicasWalkOnToDistinctNodesAndSkipZones) {
  const std::vector<Node> nodes{{"a", 100, "red"}, {"b", 100, "red"}, {"c", 100, "blue"}, {"d", 100, "blue"}};
  const PlacementOptions options{.seed = 3, .points = 10};
  const PlacementPtr placement = place(*find_algorithm("ring").value(), nodes, options).value();
  const HashRing ring = virtual_nodes(nodes, options).value();
  int skipped = 0;
  for (const std::uint64_t key : random_keys(200, 1)) {
    std::vector<MemberIndex> walk;  // distinct, in the order of the circle
    for (std::size_t point = ring.successor(key); walk.size() < nodes.size(); point = ring.next(point)) {
      if (std::find(walk.begin(), walk.end(), ring.member(point)) == walk.end()) {
        walk.push_back(ring.member(point));
      }
    }
    EXPECT_EQ(replicas(*placement, key, 4).value(), walk);
    EXPECT_EQ(replicas(*placement, key, 9).value(), walk) << "no more than there are";
    const auto other_zone = std::find_if(walk.begin(), walk.end(),
                                         [&](MemberIndex m) { return nodes[m].zone != nodes[walk[0]].zone; });
    EXPECT_EQ(replicas(*placement, key, 2, ZoneRule::spread).value(),
              (std::vector<MemberIndex>{walk[0], *other_zone}));
    // Once both zones are named, those that waited follow in the order of the walk.
    std::vector<MemberIndex> all{walk[0], *other_zone};
    std::copy_if(walk.begin() + 1, walk.end(), std::back_inserter(all),
                 [&](MemberIndex m) { return m != *other_zone; });
    EXPECT_EQ(replicas(*placement, key, 4, ZoneRule::spread).value(), all);
    skipped += *other_zone != walk[1];
  }
  EXPECT_GT(skipped, 20);
}

TEST(Ring, RefusesARingTooLargeBeforeItTakesMemory) {
  const auto ring = virtual_nodes(equal_nodes(1000), {.points = 4000000000});
  ASSERT_FALSE(ring.has_value());
  EXPECT_EQ(
      ring.error().text(),
      "a ring of 4000000000 points for each weight of 100 would have 4000000000000 points; choose the points "
      "so that there are 1 to 67108864");
  EXPECT_FALSE(virtual_nodes(equal_nodes(1), {.points = 0}).has_value());
}

TEST(Ketama, TheSampleFilesServersHave1264Points) {
  const std::vector<Node> nodes{{"10.0.1.1:11211", 600}, {"10.0.1.2:11211", 300},  {"10.0.1.3:11211", 200},
                                {"10.0.1.4:11211", 350}, {"10.0.1.5:11211", 1000}, {"10.0.1.6:11211", 800},
                                {"10.0.1.7:11211", 950}, {"10.0.1.8:11211", 100}};
  EXPECT_EQ(ketama_digests(nodes), (std::vector<std::uint32_t>{44, 22, 14, 26, 74, 59, 70, 7}));
  EXPECT_EQ(ketama_ring(nodes).size(), 1264U);
}

TEST(Ketama, ADigestGivesFourLittleEndianPoints) {
  EXPECT_EQ(ketama_points("10.0.1.1:11211", 0),
            (std::array<std::uint32_t, 4>{2431485715, 4123933443, 100894374, 2720740989}));
}

TEST(Ketama, EqualWeightsHaveFortyDigestsWhateverTheirNumber) {
  for (const std::size_t count : {1U, 3U, 7U, 49U, 1000U}) {
    EXPECT_EQ(ketama_digests(equal_nodes(count)), std::vector<std::uint32_t>(count, 40));
  }
}

TEST(EnvoyRing, SizeBoundsAreHonouredAndPointsFollowWeights) {
  const struct {
    const char* what;
    std::vector<std::uint32_t> weights;
    std::uint32_t size_min, size_max;
    std::vector<std::uint32_t> points;
  } cases[] = {
      {"an even division", {1, 1}, 1024, 8388608, {512, 512}},
      {"the share of the smallest ring is rounded up", {1, 1, 1}, 1024, 8388608, {342, 342, 342}},
      {"one to two", {100, 200}, 1024, 8388608, {342, 684}},
      {"the lightest has a whole number, the others follow", {1, 1000}, 1024, 8388608, {2, 2000}},
      {"cut at the largest size", {1, 1, 2}, 1024, 1024, {256, 256, 512}},
      {"the largest size wins over proportion", {1, 65535}, 1024, 1024, {1, 1023}},
      {"a small ring", {1, 1, 1}, 1, 8, {1, 1, 1}},
  };
  for (const auto& c : cases) {
    std::vector<Node> nodes;
    for (const std::uint32_t weight : c.weights) nodes.push_back({"n", weight});
    EXPECT_EQ(envoy_points(nodes, c.size_min, c.size_max), c.points) << c.what;
  }
  const Algorithm& envoy = *find_algorithm("envoy-ring").value();
  EXPECT_FALSE(place(envoy, equal_nodes(3), {.ring_size_min = 9, .ring_size_max = 8}).has_value());
  EXPECT_FALSE(place(envoy, equal_nodes(3), {.ring_size_min = 1, .ring_size_max = 2}).has_value());
  EXPECT_FALSE(place(envoy, equal_nodes(3), {.ring_size_max = 8388609}).has_value());
}

// A hundred nodes with a point each, ten thousand keys; means over draws of both.
struct BoundedRun {
  double probes_per_key = 0, peak = 0, movement = 0;  // of a node that leaves, over the ring without a bound
};

BoundedRun run_bounded(std::uint32_t load_percent) {
  constexpr int runs = 30;
  constexpr std::size_t key_count = 10000;
  BoundedRun result;
  double moved = 0, own = 0;
  for (int run = 0; run < runs; ++run) {
    const PlacementOptions options{.seed = static_cast<std::uint64_t>(run), .points = 1};
    const auto nodes = equal_nodes(100);
    const auto keys = random_keys(key_count, 1000 + run);
    const HashRing ring = virtual_nodes(nodes, options).value();
    std::vector<MemberIndex> before(key_count), after(key_count);
    result.probes_per_key +=
        static_cast<double>(assign_bounded(ring, nodes, load_percent, keys, before)) / key_count / runs;
    std::vector<double> load(nodes.size());
    for (const MemberIndex owner : before) ++load[owner];
    result.peak = std::max(result.peak, spread_of(load).peak);

    const auto last = static_cast<MemberIndex>(nodes.size() - 1);  // so that the others keep their numbers
    const std::vector<Node> fewer(nodes.begin(), nodes.end() - 1);
    assign_bounded(virtual_nodes(fewer, options).value(), fewer, load_percent, keys, after);
    for (std::size_t i = 0; i < key_count; ++i) {
      moved += before[i] != after[i];
      own += ring.owner(keys[i]) == last;
    }
  }
  result.movement = moved / own;
  return result;
}

TEST(BoundedLoads, ProbesGrowAsTheBoundTightensAndItHolds) {
  const struct {
    std::uint32_t load_percent;
    double probes;
  } cases[] = {{110, 3.7}, {125, 2.2}, {150, 1.8}, {200, 1.2}};
  for (const auto& c : cases) {
    const BoundedRun run = run_bounded(c.load_percent);
    EXPECT_NEAR(run.probes_per_key, c.probes, 0.15 * c.probes) << c.load_percent;
    EXPECT_LE(run.peak, c.load_percent / 100.0) << c.load_percent;
  }
}

TEST(BoundedLoads, ANodeThatLeavesMovesFiveToNineTimesTheKeysOfThePlainRing) {
  const double movement = run_bounded(125).movement;
  EXPECT_GE(movement, 5);
  EXPECT_LE(movement, 9);
}

TEST(BoundedLoads, CapsFollowWeights) {
  EXPECT_EQ(load_cap(10000, 100, 10000, 125), 125U);
  EXPECT_EQ(load_cap(10001, 100, 10000, 125), 126U) << "rounded up";
  EXPECT_EQ(load_cap(1000, 300, 400, 100), 750U);
  EXPECT_EQ(load_cap(1, 1, 65535, 100), 1U);
  EXPECT_FALSE(
      place(*find_algorithm("bounded-loads").value(), equal_nodes(2), {.load_percent = 99}).has_value());
}

}  // namespace
}  // namespace guideway
