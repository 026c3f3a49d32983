// Comparison: the figures by placements that are known key by key, refusals, and the registry by what it promises.
#include "guideway/compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>

namespace guideway {
namespace {

using Kind = ComparedChange::Kind;

// Key N of every ten goes to the node whose number stands at place N; two tables, before and after a change.
class ByHand final : public Placement {
 public:
  ByHand(PlacementRequest request, std::string_view owners)
      : Placement(std::move(request)), owners_(owners) {}
  [[nodiscard]] std::uint64_t hash(std::string_view key) const override {
    std::uint64_t number = 0;
    std::from_chars(key.data() + 4, key.data() + key.size(), number);
    return number;
  }
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return static_cast<MemberIndex>(owners_[key_hash % 10] - '0');
  }
  [[nodiscard]] std::size_t bytes() const override { return 42; }

 private:
  std::string_view owners_;
};

std::string_view owners_before, owners_after;

constexpr Algorithm by_hand{.name = "by-hand",
                            .summary = "",
                            .source = "",
                            .promises = {.removes_any = true, .honours_weights = true},
                            .peak_bound = nullptr,
                            .build = [](PlacementRequest request) -> Result<PlacementPtr> {
                              const auto owners = request.before == nullptr ? owners_before : owners_after;
                              return std::make_unique<ByHand>(std::move(request), owners);
                            }};

Comparison compare_by_hand(std::string_view before, std::string_view after, const ComparedChange& change,
                           std::vector<std::uint32_t> weights = {}) {
  owners_before = before, owners_after = after;
  constexpr const Algorithm* only[] = {&by_hand};
  return compare({.nodes = numbered_nodes(4, weights), .change = change, .keys = 1000}, only).value();
}

TEST(Compare, FullnessIsKeysOverWhatTheWeightIsDue) {
  // 4, 3, 2 and 1 of ten keys where each is due 2.5.
  const Comparison equal = compare_by_hand("0000111223", "0000111222", {.name = "b4"});
  const FullnessFigures& keys = equal.algorithms[0].keys;
  EXPECT_DOUBLE_EQ(keys.peak, 1.6);
  EXPECT_DOUBLE_EQ(keys.minimum, 0.4);
  EXPECT_NEAR(keys.deviation, std::sqrt((.36 + .04 + .04 + .36) / 4), 1e-12);
  EXPECT_NEAR(keys.error, 0.2, 1e-12) << "1.5 and 0.5 of ten keys are elsewhere";
  EXPECT_EQ(equal.algorithms[0].cost.bytes, 42U);
  // The same by weights that ask for just this.
  const Comparison weighted =
      compare_by_hand("0000111223", "0000111222", {.name = "b4"}, {400, 300, 200, 100});
  EXPECT_NEAR(weighted.algorithms[0].keys.peak, 1, 1e-12);
  EXPECT_NEAR(weighted.algorithms[0].keys.error, 0, 1e-12);
  EXPECT_NEAR(weighted.due, 0.1, 1e-12);
}

struct MovementCase {
  const char* what;
  ComparedChange change;
  const char *before, *after;
  double due, moved, needless;
  std::size_t partners;
  double busiest;
  const char* busiest_name;
};

const MovementCase movements[] = {
    {"a node goes, two take over",
     {.kind = Kind::remove, .name = "b4"},
     "0001122333",
     "0001122001",
     0.25,
     0.3,
     0,
     2,
     2.0 / 3,
     "b1"},
    {"a node goes, and a key moves between two that stay",
     {.kind = Kind::remove, .name = "b4"},
     "0001122333",
     "0011122111",
     0.25,
     0.4,
     0.1,
     1,
     1,
     "b2"},
    // Behind the removal of b1, 0 is b2.
    {"the first goes: indices shift, names do not",
     {.kind = Kind::remove, .name = "b1"},
     "0001112233",
     "0010001122",
     0.25,
     0.3,
     0,
     2,
     2.0 / 3,
     "b2"},
    {"a node comes", {.kind = Kind::add}, "0001112233", "0401112434", 0.2, 0.3, 0, 3, 1.0 / 3, "b1"},
    {"a node comes, a key goes elsewhere",
     {.kind = Kind::add},
     "0001112233",
     "0101112434",
     0.2,
     0.3,
     0.1,
     2,
     0.5,
     "b3"},
    {"a node grows",
     {.kind = Kind::weight, .name = "b1", .weight = 400},
     "0001112233",
     "0001000230",
     400.0 / 700 - 0.25,
     0.3 + 0.1,
     0.0,
     3,
     0.5,
     "b2"},
    {"a node shrinks, and yet wins a key",
     {.kind = Kind::weight, .name = "b1", .weight = 50},
     "0001112233",
     "0221112230",
     0.25 - 50.0 / 350,
     0.3,
     0.1,
     1,
     1,
     "b3"},
};

TEST(Compare, MovementByHand) {
  for (const MovementCase& one : movements) {
    const Comparison result = compare_by_hand(one.before, one.after, one.change);
    EXPECT_NEAR(result.due, one.due, 1e-12) << one.what;
    ASSERT_TRUE(result.algorithms[0].movement) << one.what;
    const MovementFigures& movement = *result.algorithms[0].movement;
    EXPECT_NEAR(movement.moved, one.moved, 1e-12) << one.what;
    EXPECT_NEAR(movement.needless, one.needless, 1e-12) << one.what;
    EXPECT_EQ(movement.partners, one.partners) << one.what;
    EXPECT_NEAR(movement.busiest, one.busiest, 1e-12) << one.what;
    EXPECT_EQ(movement.busiest_name, one.busiest_name) << one.what;
  }
}

// All of the registry, over ten nodes.
Comparison compare_all(const ComparedChange& change, std::vector<std::uint32_t> weights = {}) {
  return compare({.nodes = numbered_nodes(10, weights),
                  .change = change,
                  .keys = 20000,
                  .options = {.seed = 1, .rows = 8191}},
                 algorithms())
      .value();
}

TEST(Compare, WhatTheRegistryPromisesIsWhatIsMeasured) {
  for (const auto& [kind, name] : {std::pair{Kind::add, ""}, {Kind::remove, "b10"}}) {
    const Comparison result = compare_all({.kind = kind, .name = name});
    ASSERT_EQ(result.algorithms.size(), algorithms().size());
    for (const ComparedAlgorithm& one : result.algorithms) {
      const Promises& promises = one.algorithm->promises;
      ASSERT_FALSE(one.refusal) << one.refusal->text();
      ASSERT_TRUE(one.movement) << one.algorithm->name;
      EXPECT_GE(one.keys.peak, 1) << one.algorithm->name;
      EXPECT_LE(one.keys.minimum, 1) << one.algorithm->name;
      if (one.rows) {
        EXPECT_LE(one.rows->peak, one.algorithm->peak_bound(10, {.rows = 8191}) + 1e-9);
      }
      const bool minimal = kind == Kind::add ? promises.monotone_on_add : promises.minimal_on_removal;
      if (minimal) {
        EXPECT_EQ(one.movement->needless, 0) << one.algorithm->name;
      }
      EXPECT_GT(one.movement->moved, 0) << one.algorithm->name;
    }
  }
}

const ComparedAlgorithm& named(const Comparison& comparison, std::string_view name) {
  for (const ComparedAlgorithm& one : comparison.algorithms) {
    if (one.algorithm->name == name) return one;
  }
  throw std::invalid_argument(std::string(name));
}

TEST(Compare, FiguresThatAreKnown) {
  const Comparison removed = compare_all({.name = "b10"});
  EXPECT_NEAR(named(removed, "modulo").movement->moved, 0.9, 0.01);
  EXPECT_NEAR(named(removed, "modulo").movement->needless, 0.8, 0.01);
  EXPECT_GT(named(removed, "maglev").movement->needless, 0);
  EXPECT_EQ(named(removed, "guideway").movement->partners, 9U);
  EXPECT_LT(named(removed, "guideway").rows->error, 10.0 / 8191) << "whole rows round, nothing else";
  EXPECT_NEAR(named(removed, "guideway").keys.error, removed.scatter, removed.scatter) << "the keys' scatter";
  const Comparison heavier = compare_all({.kind = Kind::weight, .name = "b03", .weight = 300}, {100});
  EXPECT_NEAR(heavier.due, 300.0 / 1200 - 0.1, 1e-12);
  EXPECT_NEAR(named(heavier, "rendezvous").movement->moved, heavier.due, 0.015);
}

TEST(Compare, RefusalsStandInTheirOwnLine) {
  const Comparison middle = compare_all({.name = "b03"});
  ASSERT_TRUE(named(middle, "jump").change_refusal);
  EXPECT_NE(named(middle, "jump").change_refusal->text().find("b10"), std::string::npos);
  EXPECT_TRUE(named(middle, "memento").movement);
  const Comparison weighted = compare_all({.name = "b10"}, {100, 200});
  ASSERT_TRUE(named(weighted, "slots").refusal);
  EXPECT_TRUE(named(weighted, "guideway").movement);
}

TEST(Compare, TellsWhoGetsNoRow) {
  const Algorithm* const maglev[] = {find_algorithm("maglev").value()};
  const auto crowded = compare(
      {.nodes = numbered_nodes(260), .change = {.kind = Kind::add}, .keys = 100, .options = {.rows = 251}},
      maglev);
  ASSERT_TRUE(crowded);
  EXPECT_EQ(crowded->algorithms[0].without_rows.size(), 9U);
}

TEST(Compare, TwiceTheSame) {
  const Comparison one = compare_all({.kind = Kind::add}), two = compare_all({.kind = Kind::add});
  for (std::size_t i = 0; i < one.algorithms.size(); ++i) {
    EXPECT_EQ(one.algorithms[i].fullness, two.algorithms[i].fullness);
    EXPECT_EQ(one.algorithms[i].movement->moved, two.algorithms[i].movement->moved);
    EXPECT_EQ(one.algorithms[i].movement->busiest_name, two.algorithms[i].movement->busiest_name);
  }
}

TEST(Compare, RefusesWhatCannotBeCompared) {
  struct Case {
    const char* what;
    ComparisonRequest request;
    const char* says;
  };
  const Case cases[] = {
      {"nobody", {.nodes = {}}, "no backends"},
      {"a stranger goes", {.nodes = numbered_nodes(3), .change = {.name = "x"}}, "no backend \"x\""},
      {"the last goes", {.nodes = numbered_nodes(1), .change = {.name = "b1"}}, "last backend"},
      {"the same weight", {.nodes = numbered_nodes(3), .change = {Kind::weight, "b1", 100}}, "already"},
      {"one comes twice", {.nodes = numbered_nodes(3), .change = {Kind::add, "b1", 100}}, "already"},
      {"no keys", {.nodes = numbered_nodes(3), .change = {.name = "b1"}, .keys = 0}, "0 keys"},
      {"too many keys", {.nodes = numbered_nodes(3), .change = {.name = "b1"}, .keys = 10'000'001}, "keys"},
      {"hours of work",
       {.nodes = numbered_nodes(2000), .change = {.name = "b1"}, .keys = 10'000'000},
       "too long"},
  };
  for (const Case& one : cases) {
    const auto refused = compare(one.request, algorithms());
    ASSERT_FALSE(refused) << one.what;
    EXPECT_NE(refused.error().text().find(one.says), std::string::npos) << refused.error().text();
    EXPECT_FALSE(refused.error().next.empty()) << one.what;
  }
}

TEST(ComparedChange, ReadsWhatItWrites) {
  for (const char* text : {"add:b11=100", "add:x=7", "remove:b-1", "weight:b1=65535"}) {
    const auto change = parse_compared_change(text);
    ASSERT_TRUE(change) << text;
    EXPECT_EQ(compared_change_text(*change), text);
  }
  EXPECT_EQ(parse_compared_change("add").value(), (ComparedChange{.kind = Kind::add}));
}

TEST(ComparedChange, RefusesTheRest) {
  for (const char* text :
       {"", "adds", "add:", "add:=3", "remove", "remove:", "remove:a=3", "remove:a b", "weight:a",
        "weight:a=", "weight:a=0", "weight:a=65536", "weight:=1", "weight:a=1x", "drain:a"}) {
    EXPECT_FALSE(parse_compared_change(text)) << text;
  }
  for (const char* text : {"", "1,", ",1", "0", "1;2", "70000", "-1"})
    EXPECT_FALSE(parse_weights(text)) << text;
  EXPECT_EQ(parse_weights("100,1,65535").value(), (std::vector<std::uint32_t>{100, 1, 65535}));
}

TEST(NumberedNodes, StandInTheOrderOfTheirNumbers) {
  const std::vector<Node> nodes = numbered_nodes(120, std::vector<std::uint32_t>{1, 2, 3});
  EXPECT_EQ(nodes.front().name, "b001");
  EXPECT_EQ(nodes.back(), (Node{.name = "b120", .weight = 3}));
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end(), [](auto& a, auto& b) { return a.name < b.name; }));
}

}  // namespace
}  // namespace guideway
