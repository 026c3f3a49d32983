// What the registry promises, held against every algorithm in it. No algorithm is named here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "tables/algorithms/balance.h"
#include "tests/tables/some_nodes.h"

namespace guideway {
namespace {

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {
 protected:
  const Algorithm& algorithm = *GetParam();
  const Promises& promises = GetParam()->promises;

  // RapidCheck prints the counterexample; the test carries its name.
  template <class Property>
  void holds(Property property) {
    EXPECT_TRUE(rc::check(property));
  }

  // Nodes whose names come behind all that some_nodes() makes, so that "the last that came" is known.
  static Node newcomer(const std::vector<Node>& nodes, const std::string& name = "c-newcomer") {
    return {.name = name, .weight = nodes.front().weight};
  }

  PlacementPtr must_place(const std::vector<Node>& nodes, const PlacementOptions& options) const {
    auto placed = place(algorithm, nodes, options);
    if (!placed) RC_FAIL(placed.error().text());
    return std::move(*placed);
  }

  static PlacementPtr must_place_after(const Placement& before, const std::vector<Node>& nodes) {
    auto placed = place_after(before, nodes);
    if (!placed) RC_FAIL(placed.error().text());
    return std::move(*placed);
  }

  // Each row once where there are rows, else random keys.
  static std::vector<std::uint64_t> keys_over(const Placement& placement) {
    if (placement.rows().empty()) return some_keys(1000);
    std::vector<std::uint64_t> keys(placement.rows().size());
    std::iota(keys.begin(), keys.end(), 0);
    return keys;
  }

  // Keys that changed hands though their old owner stays and their new one was there.
  static std::size_t moved_needlessly(const std::vector<std::string>& before,
                                      const std::vector<std::string>& after, const std::string& changed) {
    std::size_t moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      moved += before[i] != after[i] && before[i] != changed && after[i] != changed;
    }
    return moved;
  }

  // Whole rows round by weight, so that each node may gain or lose the one row that its fraction stood for.
  static std::size_t rounding(const Placement& placement, const std::vector<Node>& nodes) {
    const bool equal = std::all_of(nodes.begin(), nodes.end(),
                                   [&](const Node& node) { return node.weight == nodes.front().weight; });
    return equal || placement.rows().empty() ? 0 : nodes.size();
  }
};

TEST_P(EveryAlgorithm, SaysWhatItIs) {
  EXPECT_FALSE(algorithm.summary.empty());
  EXPECT_FALSE(algorithm.source.empty());
  EXPECT_EQ(find_algorithm(algorithm.name).value(), &algorithm);
  EXPECT_TRUE(promises.undoes || !promises.pure) << "what is pure has no past";
}

TEST_P(EveryAlgorithm, IsDeterministicAndEveryOwnerIsANode) {
  holds([this] {
    const auto nodes = some_nodes(algorithm, 1);
    const PlacementOptions options = some_options();
    const auto keys = some_keys(500);
    PlacementPtr first = must_place(nodes, options), second = must_place(nodes, options);
    for (int change = 0; change < 3; ++change) {
      const auto owners = owners_of(*first, keys);
      RC_ASSERT(owners == owners_of(*second, keys));
      for (const MemberIndex owner : owners) RC_ASSERT(owner < first->nodes().size());
      for (const MemberIndex owner : first->rows()) RC_ASSERT(owner < first->nodes().size());
      RC_ASSERT(first->bytes() > 0U);
      if (!promises.removes_any) return;
      const auto others = some_nodes(algorithm, 1);
      first = must_place_after(*first, others);
      second = must_place_after(*second, others);
    }
  });
}

TEST_P(EveryAlgorithm, DoesNotHeedTheOrderOfItsInput) {
  holds([this] {
    auto nodes = some_nodes(algorithm, 2);
    const PlacementOptions options = some_options();
    const auto keys = some_keys(300);
    const auto names = names_of_owners(*must_place(nodes, options), keys);
    std::shuffle(nodes.begin(), nodes.end(), std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
    RC_ASSERT(names == names_of_owners(*must_place(nodes, options), keys));
  });
}

TEST_P(EveryAlgorithm, KeysStandAloneWherePromised) {
  if (!promises.keys_stand_alone) return;
  holds([this] {
    const auto nodes = some_nodes(algorithm, 1);
    const auto keys = some_keys(300);
    const PlacementPtr placement = must_place(nodes, some_options());
    const auto owners = owners_of(*placement, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      RC_ASSERT(placement->owner(keys[i]) == owners[i]);
      if (const auto rows = placement->rows(); !rows.empty())
        RC_ASSERT(rows[keys[i] % rows.size()] == owners[i]);
    }
  });
}

TEST_P(EveryAlgorithm, ANodeThatComesOnlyTakesWherePromised) {
  if (!promises.monotone_on_add) return;
  holds([this] {
    const auto nodes = some_nodes(algorithm, 1, *rc::gen::arbitrary<bool>());
    const PlacementPtr before = must_place(nodes, some_options());
    const auto keys = keys_over(*before);
    auto more = nodes;
    // Before all others by name, among them, and behind them.
    more.push_back(newcomer(nodes, *rc::gen::element<std::string>("a", "b5x", "c-newcomer")));
    const PlacementPtr after = must_place_after(*before, more);
    const std::size_t needless =
        moved_needlessly(names_of_owners(*before, keys), names_of_owners(*after, keys), more.back().name);
    RC_ASSERT(needless <= rounding(*after, more));
  });
}

TEST_P(EveryAlgorithm, ANodeThatGoesLeavesOnlyItsOwnWherePromised) {
  if (!promises.minimal_on_removal) return;
  holds([this] {
    auto nodes = some_nodes(algorithm, 2, *rc::gen::arbitrary<bool>());
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.name < b.name; });
    const PlacementPtr before = must_place(nodes, some_options());
    const auto keys = keys_over(*before);
    const std::size_t who =
        promises.removes_any ? *rc::gen::inRange<std::size_t>(0, nodes.size()) : nodes.size() - 1;
    auto fewer = nodes;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(who));
    const PlacementPtr after = must_place_after(*before, fewer);
    const std::size_t needless =
        moved_needlessly(names_of_owners(*before, keys), names_of_owners(*after, keys), nodes[who].name);
    RC_ASSERT(needless <= rounding(*after, nodes));
  });
}

TEST_P(EveryAlgorithm, RefusesARemovalItCannotDo) {
  holds([this] {
    auto nodes = some_nodes(algorithm, 2);
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.name < b.name; });
    const PlacementPtr before = must_place(nodes, some_options());
    nodes.erase(nodes.begin());
    const auto after = place_after(*before, nodes);
    RC_ASSERT(after.has_value() == promises.removes_any);
    if (!after) RC_ASSERT(!after.error().what.empty() && !after.error().next.empty());
  });
}

TEST_P(EveryAlgorithm, HasNoPastWhereItIsPure) {
  if (!promises.pure) return;
  holds([this] {
    const auto first = some_nodes(algorithm, 1), second = some_nodes(algorithm, 1);
    const PlacementOptions options = some_options();
    const auto keys = some_keys(300);
    const PlacementPtr before = must_place(first, options);
    RC_ASSERT(names_of_owners(*must_place_after(*before, second), keys) ==
              names_of_owners(*must_place(second, options), keys));
  });
}

TEST_P(EveryAlgorithm, AddThenRemoveIsWhereItBeganWherePromised) {
  if (!promises.undoes) return;
  holds([this] {
    const auto nodes = some_nodes(algorithm, 1, *rc::gen::arbitrary<bool>());
    const PlacementPtr before = must_place(nodes, some_options());
    const auto keys = keys_over(*before);
    auto more = nodes;
    more.push_back(newcomer(nodes));
    const PlacementPtr after = must_place_after(*must_place_after(*before, more), nodes);
    const std::size_t moved =
        moved_needlessly(names_of_owners(*before, keys), names_of_owners(*after, keys), "");
    RC_ASSERT(moved <= (promises.pure ? 0 : rounding(*after, nodes)));
  });
}

// A promise that is kept but not made would leave its property untested.
TEST_P(EveryAlgorithm, MakesEveryPromiseItKeeps) {
  const PlacementOptions options{.seed = 5, .rows = 8209, .points = 20};
  std::vector<Node> nodes;
  for (int i = 0; i < 20; ++i) {
    const bool heavy = promises.honours_weights && i % 3 == 0;
    nodes.push_back({.name = fmt::format("b{:02}", i), .weight = heavy ? 170U : 100U});
  }
  auto fewer = nodes, more = nodes;
  fewer.erase(fewer.begin() + 4);
  more.push_back({"b04x"});
  // With a past: eleven nodes, then nineteen, then twenty.
  const PlacementPtr young = place(algorithm, {nodes.begin(), nodes.begin() + 11}, options).value();
  const PlacementPtr grown = place_after(*young, {nodes.begin(), nodes.end() - 1}).value();
  const PlacementPtr before = place_after(*grown, nodes).value();
  std::vector<std::uint64_t> keys(before->rows().empty() ? 5000 : before->rows().size());
  std::iota(keys.begin(), keys.end(), 0);
  if (before->rows().empty()) {
    for (std::uint64_t& key : keys) key *= 0x9e3779b97f4a7c15;
  }
  const auto names = names_of_owners(*before, keys);
  const PlacementPtr added = place_after(*before, more).value();
  EXPECT_EQ(moved_needlessly(names, names_of_owners(*added, keys), "b04x") <= rounding(*added, more),
            promises.monotone_on_add);
  if (promises.removes_any) {
    const PlacementPtr removed = place_after(*before, fewer).value();
    EXPECT_EQ(moved_needlessly(names, names_of_owners(*removed, keys), "b04") <= rounding(*removed, nodes),
              promises.minimal_on_removal);
    const auto fresh = names_of_owners(*place(algorithm, fewer, options).value(), keys);
    EXPECT_EQ(fresh == names_of_owners(*removed, keys), promises.pure);
  }
  const auto undone = names_of_owners(*place_after(*added, nodes).value(), keys);
  EXPECT_EQ(moved_needlessly(names, undone, "") <= rounding(*added, nodes), promises.undoes);
  std::vector<MemberIndex> alone;
  for (const std::uint64_t key : keys) alone.push_back(before->owner(key));
  EXPECT_EQ(alone == owners_of(*before, keys), promises.keys_stand_alone);
}

TEST_P(EveryAlgorithm, KeepsItsBoundOnTheFullestNode) {
  holds([this] {
    const auto nodes = some_nodes(algorithm, 2, true);
    const PlacementOptions options = some_options();
    const auto keys = some_keys(10000);
    PlacementPtr placement = must_place(nodes, options);
    if (promises.removes_any) {  // as even after a change of several as from nothing
      placement = must_place_after(*must_place(some_nodes(algorithm, 2, true), options), nodes);
    }
    std::vector<double> load(nodes.size());
    for (const MemberIndex owner : owners_of(*placement, keys)) ++load[owner];
    const double mean = static_cast<double>(keys.size()) / static_cast<double>(nodes.size());
    const double bound = algorithm.peak_bound(nodes.size(), options) * peak_of_counts(nodes.size(), mean);
    RC_ASSERT(*std::max_element(load.begin(), load.end()) / mean <= bound);
  });
}

TEST_P(EveryAlgorithm, FollowsWeightsOrRefusesThem) {
  holds([this] {
    auto nodes = some_nodes(algorithm, 6, true);
    double heavy = 0, total = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].weight = i % 2 == 0 ? 400 : 100;
      total += nodes[i].weight;
      heavy += i % 2 == 0 ? nodes[i].weight : 0;
    }
    PlacementOptions options = some_options();
    options.points = 100;
    const auto placed = place(algorithm, nodes, options);
    RC_ASSERT(placed.has_value() == promises.honours_weights);
    if (!placed) {
      RC_ASSERT(placed.error().what.find("has no weights") != std::string::npos);
      return;
    }
    const auto keys = some_keys(10000);
    double to_heavy = 0;
    for (const MemberIndex owner : owners_of(**placed, keys))
      to_heavy += (*placed)->nodes()[owner].weight == 400;
    RC_ASSERT(std::abs(to_heavy / static_cast<double>(keys.size()) - heavy / total) < 0.08);
  });
}

TEST_P(EveryAlgorithm, ReplicasAreDistinctAndHeedZonesOrAreRefused) {
  holds([this] {
    const auto nodes = some_nodes(algorithm, 1);
    const PlacementPtr placement = must_place(nodes, some_options());
    const std::size_t count = *rc::gen::inRange<std::size_t>(1, 8);
    std::set<std::string> zones;
    for (const Node& node : nodes) zones.insert(node.zone.empty() ? "only " + node.name : node.zone);
    for (const std::uint64_t key : some_keys(20)) {
      for (const ZoneRule rule : {ZoneRule::ignore, ZoneRule::spread}) {
        const auto list = replicas(*placement, key, count, rule);
        RC_ASSERT(list.has_value() == promises.replicas);
        if (!list) continue;
        RC_ASSERT(list->size() == std::min(count, nodes.size()));
        RC_ASSERT(list->front() == placement->owner(key));
        RC_ASSERT(std::set<MemberIndex>(list->begin(), list->end()).size() == list->size());
        if (rule == ZoneRule::ignore) continue;
        std::set<std::string> named;
        for (const MemberIndex member : *list) {
          const Node& node = placement->nodes()[member];
          named.insert(node.zone.empty() ? "only " + node.name : node.zone);
        }
        RC_ASSERT(named.size() == std::min(list->size(), zones.size()));
      }
    }
  });
}

TEST_P(EveryAlgorithm, RefusesBadInputInOneSentence) {
  const std::string long_name(64, 'x');
  const struct {
    const char* what;
    std::vector<Node> nodes;
  } cases[] = {{"nobody", {}},           {"a name twice", {{"a"}, {"a"}}},
               {"weight 0", {{"a", 0}}}, {"too heavy", {{"a", 65536}}},
               {"no name", {{""}}},      {"a long name", {{long_name}}}};
  for (const auto& c : cases) {
    const auto placed = place(algorithm, c.nodes);
    ASSERT_FALSE(placed.has_value()) << c.what;
    EXPECT_FALSE(placed.error().what.empty() || placed.error().next.empty()) << c.what;
    const auto after = place_after(*place(algorithm, {{"a"}, {"b"}}).value(), c.nodes);
    EXPECT_FALSE(after.has_value()) << c.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()), [](const auto& tested) {
                           std::string name(tested.param->name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(Registry, NamesAreDistinctAndAnUnknownOneIsToldTheOthers) {
  std::set<std::string_view> names;
  for (const Algorithm* algorithm : algorithms()) EXPECT_TRUE(names.insert(algorithm->name).second);
  const auto unknown = find_algorithm("magic");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::not_found);
  for (const std::string_view name : names) {
    EXPECT_NE(unknown.error().text().find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace guideway
