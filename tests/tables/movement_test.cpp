// Movement: what the contract promises of every kind of change, over random histories, beside Maglev dealt anew and GLB.
#include "tables/simulation/movement.h"

#include <gtest/gtest.h>

#include "tables/simulation/hop_rules.h"

namespace guideway {
namespace {

const MovedByRule& of_rule(const std::vector<MovedByRule>& all, std::string_view name) {
  for (const MovedByRule& one : all) {
    if (one.rule == name) return one;
  }
  throw std::invalid_argument(std::string(name));
}

const MovedByKind& of_kind(const MovedByRule& rule, FleetChange kind) {
  return rule.by[static_cast<std::size_t>(kind)];
}

// A thousand changes each, in small.
std::vector<MovedByRule> history(std::size_t backends, std::vector<std::uint32_t> weights = {}) {
  return measure_movement(
             {.backends = backends, .weights = std::move(weights), .rows = 1021, .changes = 1000})
      .value();
}

constexpr std::array no_deal{FleetChange::drain, FleetChange::undrain, FleetChange::fail,
                             FleetChange::recover};

TEST(Movement, AThousandChangesLeaveSharesExactAndMoveNothingNeedlessly) {
  for (const auto& all : {history(10), history(40), history(10, {100, 200, 700})}) {
    for (const char* name : {"stable", "scratch"}) {
      const MovedByRule& rule = of_rule(all, name);
      EXPECT_LT(rule.rows_off, 1) << name;
      for (const FleetChange kind : no_deal) {
        EXPECT_GT(of_kind(rule, kind).times, 50U);
        EXPECT_GT(of_kind(rule, kind).moved, 0.001);
        EXPECT_EQ(of_kind(rule, kind).needless_rows_max, 0U)
            << name << " " << fleet_change_names[static_cast<std::size_t>(kind)];
      }
    }
    const MovedByRule& stable = of_rule(all, "stable");
    for (const FleetChange kind : {FleetChange::add, FleetChange::remove, FleetChange::weigh}) {
      EXPECT_GT(of_kind(stable, kind).times, 20U);
      EXPECT_EQ(of_kind(stable, kind).needless_rows_max, 0U)
          << fleet_change_names[static_cast<std::size_t>(kind)];
    }
    EXPECT_EQ(of_kind(stable, FleetChange::add_beside).needless_rows_max, 0U);
  }
}

// Rows that a stand-in serves by ranking. Beside others away a few of them cross; a member that health checks had
// taken out and that then leaves gives all of its seats away by turns, whoever stood in.
TEST(Movement, ADealDoesNotKnowWhomHealthChecksPutIn) {
  const auto all = history(10);
  const MovedByRule& stable = of_rule(all, "stable");
  for (const FleetChange kind : {FleetChange::remove_beside, FleetChange::weigh_beside}) {
    EXPECT_GT(of_kind(stable, kind).times, 50U);
    EXPECT_LT(of_kind(stable, kind).needless, of_kind(stable, kind).moved / 5);
  }
  const MovedByKind& down = of_kind(stable, FleetChange::remove_down_beside);
  EXPECT_GT(down.times, 5U);
  EXPECT_LT(down.moved, 2.0 / 10) << "no more than its own rows and another's";
}

TEST(Movement, WhatItIsMeasuredAgainst) {
  const auto all = history(40);
  const MovedByRule &rebuild = of_rule(all, "rebuild"), &glb = of_rule(all, "glb");
  for (std::size_t kind = 0; kind < fleet_change_names.size(); ++kind) {
    const auto change = static_cast<FleetChange>(kind);
    if (change == FleetChange::remove_down || change == FleetChange::remove_down_beside) continue;
    EXPECT_GT(rebuild.by[kind].needless, 0.002) << fleet_change_names[kind];
  }
  EXPECT_EQ(of_kind(glb, FleetChange::weigh).times, 0U) << "it has no weights";
  EXPECT_EQ(of_kind(glb, FleetChange::add).needless_rows_max, 0U);
  EXPECT_GT(glb.peak, 1.1) << "shares by draw";
  EXPECT_GT(glb.rows_off, 5);
}

TEST(Movement, EveryRuleIsShownTheSameHistory) {
  const auto all = history(12);
  ASSERT_EQ(all.size(), 4U) << "two-formers sends new flows where stable does";
  for (const MovedByRule& rule : all) {
    for (const FleetChange kind : no_deal) {
      EXPECT_EQ(of_kind(rule, kind).times, of_kind(all[0], kind).times) << rule.rule;
    }
  }
  const auto again = history(12);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t kind = 0; kind < fleet_change_names.size(); ++kind) {
      EXPECT_EQ(all[i].by[kind].moved, again[i].by[kind].moved);
    }
  }
}

TEST(Movement, TheSmallestFleetIsNeverWithoutSomebody) {
  const auto all = measure_movement({.backends = 4, .rows = 251, .changes = 1000});
  ASSERT_TRUE(all);
  for (const MovedByRule& rule : *all) EXPECT_GE(rule.minimum, 0.5) << rule.rule;
}

TEST(Movement, Refusals) {
  EXPECT_FALSE(measure_movement({.backends = 3}));
  EXPECT_FALSE(measure_movement({.backends = 1001}));
  EXPECT_FALSE(measure_movement({.changes = 0}));
  EXPECT_FALSE(measure_movement({.changes = 100'001}));
  EXPECT_FALSE(measure_movement({.rows = 4096}));
}

}  // namespace
}  // namespace guideway
