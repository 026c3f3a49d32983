// Simulation: single crossings by hand, GLB's rule against its definition, and the figures of contract 1, item 8.
#include "tables/simulation/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tables/simulation/glb_rule.h"

namespace guideway {
namespace {

constexpr FlowSetting no_table{false, 1}, table{true, 1}, late_pair{false, 2}, late_pair_with_table{true, 2};

struct CrossingCase {
  const char* what;
  FlowSetting setting;
  std::uint32_t hops;
  RowHops before, now;
  std::optional<BackendNumber> removed;
  double crossed, lost;
};

// One row; a fleet of 0 to 4.
const CrossingCase crossings[] = {
    {"nothing moves", no_table, 3, {0, 1, 2}, {0, 1, 2}, {}, 1, 0},
    {"the second hop knows it", no_table, 2, {0, 1, 2}, {1, 0, 2}, {}, 1, 0},
    {"one hop does not", no_table, 1, {0, 1, 2}, {1, 0, 2}, {}, 1, 1},
    {"the third hop knows it", no_table, 3, {0, 1, 2}, {1, 2, 0}, {}, 1, 0},
    {"two hops do not", no_table, 2, {0, 1, 2}, {1, 2, 0}, {}, 1, 1},
    {"a flow table needs no hop", table, 1, {0, 1, 2}, {1, 2, 3}, {}, 1, 0},
    {"a flow ends with its backend", no_table, 3, {0, 1, 2}, {1, 2, 3}, 0, 0, 0},
    {"a flow in a table does, too", table, 3, {0, 1, 2}, {1, 2, 3}, 0, 0, 0},
    {"a dead hop swallows what it should pass on", no_table, 3, {0, 1, 2}, {4, 0, 1}, 4, 1, 1},
    {"a dead hop behind swallows nothing", no_table, 3, {0, 1, 2}, {0, 4, 1}, 4, 1, 0},
    {"the late director still does as before, and so do nine of ten of its flows; one of ten of the other's "
     "comes",
     late_pair,
     1,
     {0, 1, 2},
     {1, 0, 2},
     {},
     1,
     0.5},
    {"a table knows those that stay, one of ten reaches the other director",
     late_pair_with_table,
     1,
     {0, 1, 2},
     {1, 0, 2},
     {},
     1,
     0.05},
};

TEST(Flows, OneCrossing) {
  for (const CrossingCase& one : crossings) {
    Fleet fleet(5);
    Flows flows(one.setting, one.hops, std::vector{one.before});
    if (one.removed) fleet.remove(*one.removed);
    const Crossing crossing = flows.cross(std::vector{one.now}, std::vector{one.before}, fleet);
    EXPECT_NEAR(crossing.crossed, one.crossed, 1e-6) << one.what;
    EXPECT_NEAR(crossing.lost, one.lost, 1e-6) << one.what;
  }
}

TEST(Flows, NoneIsForgottenAndNoneInvented) {
  const Fleet fleet(5);
  const std::vector<RowHops> one{{0, 1, 2}}, other{{3, 4, 0}};
  for (const FlowSetting& setting : all_flow_settings) {
    Flows flows(setting, 2, one);
    for (int step = 0; step < 200; ++step) {
      const auto& now = step % 7 < 3 ? one : other;
      EXPECT_NEAR(flows.cross(now, step % 7 == 0 ? other : now, fleet).crossed, 1, 1e-4);
    }
  }
}

TEST(Flows, AClientOpensAgainWhereItsDirectorSaysNow) {
  const Fleet fleet(5);
  const std::vector<RowHops> one{{0, 1, 2}}, other{{1, 2, 3}};
  Flows flows(no_table, 1, one);
  EXPECT_EQ(flows.cross(other, one, fleet).lost, 1);
  EXPECT_EQ(flows.cross(other, other, fleet).lost, 0);
}

// Every row's two best by score, whatever came and went before.
TEST(GlbRule, IsItsDefinitionAfterManyChanges) {
  constexpr std::uint64_t seed = 7;
  Fleet fleet(12);
  GlbRule rule(seed, 251);
  rule.change(fleet);
  std::mt19937_64 random(1);
  for (std::uint32_t step = 0; step < 60; ++step) {
    find_scenario("churn").value()->step(fleet, 12, step, random);
    rule.change(fleet);
    GlbRule anew(seed, 251);
    anew.change(fleet);
    ASSERT_EQ(rule.rows(), anew.rows()) << "step " << step;
  }
  ASSERT_EQ(rule.rows().size(), 128U);
  fleet.drain(0, 0);
  const std::vector<RowHops> before = rule.rows();
  rule.change(fleet);
  const BackendNumber drained = fleet.backends()[0].number;
  for (std::size_t row = 0; row < before.size(); ++row) {
    RowHops wanted = before[row];
    if (wanted[0] == drained) std::swap(wanted[0], wanted[1]);
    EXPECT_EQ(rule.rows()[row], wanted);
  }
}

TEST(HopRules, FewerHopsAreTheFirstOfMore) {
  Fleet fleet(20);
  fleet.drain(3, 0);
  fleet.check_says(5, Health::down);
  const Seating seating = deal(empty_seating(1, 1021), {}, fleet.members()).value();
  const auto three = build_rows(seating, fleet.statuses(), {.hops = 3});
  for (const std::uint32_t hops : {1U, 2U}) {
    const auto fewer = build_rows(seating, fleet.statuses(), {.hops = hops});
    for (std::size_t row = 0; row < three.size(); ++row) {
      for (std::uint32_t i = 0; i < hops; ++i) ASSERT_EQ(fewer[row].hop[i], three[row].hop[i]) << row;
    }
  }
}

const SimulatedRule& rule_of(const std::vector<SimulatedRule>& all, std::string_view rule,
                             std::uint32_t hops) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const SimulatedRule& one) { return one.rule == rule && one.hops == hops; });
}

std::vector<SimulatedRule> played(std::string_view scenario, const SimulationOptions& options) {
  return simulate(*find_scenario(scenario).value(), options).value();
}

constexpr double percent = 1e4;  // of a million

// The contract's figures, from a model of its own: 0.032 and 0.54 % at N = 100, 0.0023 and 0.24 % at N = 468. Walks of
// 40 or 50 steps spread around them: three seeds gave 0.030 to 0.041 and 0.0013 to 0.0040 % by the rule, 0.67 to 0.78
// and 0.49 to 0.51 % by rebuilding; tables/README.md has what larger tables make of the latter. The rule is held to a
// factor of two, and to what the figures stand for: rebuilding loses an order of magnitude more flows, two in the
// larger pool.
TEST(Churn, AHundredBackends) {
  const auto all = played("churn", {.settings = {no_table}, .rules = {"rebuild", "stable"}});
  const double by_rule = rule_of(all, "stable", 2).lost_per_million[0] / percent;
  const double by_rebuild = rule_of(all, "rebuild", 2).lost_per_million[0] / percent;
  EXPECT_LT(by_rule, 2 * 0.032);
  EXPECT_GT(by_rule, 0.032 / 2);
  EXPECT_NEAR(by_rebuild, 0.54, 0.27);
  EXPECT_GT(by_rebuild, 10 * by_rule);
  EXPECT_NEAR(rule_of(all, "rebuild", 1).lost_per_million[0] / percent, 0.56 + 1.0 / 2, 0.2)
      << "no second hop: what a rebuild moves needlessly, and a newcomer's share at every second change";
  EXPECT_LT(rule_of(all, "stable", 3).lost_per_million[0], rule_of(all, "stable", 2).lost_per_million[0]);
}

TEST(Churn, FourHundredAndSixtyEightBackends) {
  const auto all = played("churn", {.backends = 468, .settings = {no_table}, .rules = {"rebuild", "stable"}});
  const double by_rule = rule_of(all, "stable", 2).lost_per_million[0] / percent;
  EXPECT_LT(by_rule, 2 * 0.0023);
  EXPECT_GT(by_rule, 0.0023 / 2);
  EXPECT_GT(rule_of(all, "rebuild", 2).lost_per_million[0] / percent, 100 * by_rule);
  EXPECT_LT(rule_of(all, "stable", 2).peak, 1.01) << "shares stay exact";
}

// In small, every rule and setting.
TEST(Simulation, WhatEachScenarioStandsFor) {
  for (const Scenario& scenario : scenarios()) {
    const auto all = played(scenario.name, {.backends = 20, .rows = 2039, .steps = 30, .warm_up = 12});
    ASSERT_EQ(all.size(), 10U);
    for (const SimulatedRule& one : all) {
      const std::string name = fmt::format("{}: {}, {} hops", scenario.name, one.rule, one.hops);
      EXPECT_EQ(one.lost_per_million[2], 0) << name << ": one director that remembers every flow loses none";
      EXPECT_LE(one.lost_per_million[3], one.lost_per_million[1]) << name << ": a flow table never harms";
      EXPECT_GT(one.first_moved, 0) << name;
      EXPECT_GE(one.peak, 0.99) << name;
    }
    for (std::size_t setting = 0; setting < all_flow_settings.size(); ++setting) {
      const auto lost = [&](std::string_view rule, std::uint32_t hops) {
        return rule_of(all, rule, hops).lost_per_million[setting];
      };
      if (!all_flow_settings[setting].flow_table) {  // a table learns more where there is one hop
        EXPECT_LE(lost("stable", 2), lost("stable", 1)) << scenario.name << setting;
      }
      EXPECT_LE(lost("stable", 3), lost("stable", 2)) << scenario.name << setting;
      EXPECT_LE(lost("stable", 3), lost("rebuild", 2)) << scenario.name << setting;
    }
  }
}

// One after the other breaks nothing; two that are said to be down at once hide a third hop here and there.
TEST(Simulation, WithThreeHopsRestartsBreakNothingAndFlapsHardlyAnything) {
  for (const auto& [scenario, most] : {std::pair{"rolling", 0.0}, {"flaps", 1000.0}}) {
    const auto all = played(
        scenario,
        {.backends = 20, .rows = 2039, .steps = 60, .settings = {no_table}, .rules = {"rebuild", "stable"}});
    EXPECT_LE(rule_of(all, "stable", 3).lost_per_million[0], most) << scenario;
    EXPECT_GT(rule_of(all, "rebuild", 1).lost_per_million[0], 10000) << scenario;
  }
}

TEST(Simulation, TwiceTheSame) {
  const SimulationOptions options{.backends = 10, .rows = 509, .steps = 10, .warm_up = 5};
  const auto one = played("several", options), two = played("several", options);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].lost_per_million, two[i].lost_per_million);
}

TEST(Simulation, Refusals) {
  const Scenario& churn = *find_scenario("churn").value();
  EXPECT_FALSE(simulate(churn, {.backends = 3}));
  EXPECT_FALSE(simulate(churn, {.backends = 1001}));
  EXPECT_FALSE(simulate(churn, {.rows = 65536}));
  EXPECT_FALSE(simulate(churn, {.steps = 0}));
  EXPECT_FALSE(simulate(churn, {.steps = 1001}));
  const auto unknown = find_scenario("storm");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("rolling"), std::string::npos);
}

}  // namespace
}  // namespace guideway
