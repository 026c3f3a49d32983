// Plans: what a change moves, what it breaks, and when --force is asked for.
#include "state/plan.h"

#include <gtest/gtest.h>

#include "sites.h"
#include "state/seatings.h"

namespace guideway {
namespace {

// sites::site(size) after `edits`.
SiteVersion start(const std::vector<Change>& edits = {}, const Site& site = sites::site(3)) {
  SiteVersion version = sites::version_of(site);
  for (const Change& edit : edits) version = plan(version, {}, edit)->after;
  return version;
}

Plan planned(const SiteVersion& before, const Change& change, const HealthView& health = {}) {
  auto out = plan(before, health, change);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

const BackendMoves& moves_of(const Plan& plan, const std::string& backend) {
  for (const BackendMoves& moves : plan.pools.at(0).backends)
    if (moves.backend == backend) return moves;
  throw std::out_of_range(backend);
}

SetBackendState set_state(const char* name, BackendState state) { return {"web", name, state}; }

TEST(Plan, AnAddTakesOnlyTheNewShare) {
  const Plan plan = planned(start(), AddBackend{"web", sites::backend(4)});
  ASSERT_EQ(plan.pools.size(), 1U);
  const PoolMoves& pool = plan.pools[0];
  EXPECT_EQ(pool.rows, 1009U);
  EXPECT_EQ(pool.seats_moved, moves_of(plan, "web-4").seats_after);
  EXPECT_EQ(moves_of(plan, "web-4").first_gained, pool.first_moved);
  EXPECT_NEAR(pool.seats_moved, 1009 / 4.0, 1.0);
  EXPECT_EQ(pool.backends.size(), 4U);
  EXPECT_FALSE(plan.needs_force());
  EXPECT_EQ(plan.after.epoch, Epoch{to_index(plan.before.epoch) + 1});
}

TEST(Plan, ADrainMovesFirstHopsAndNoSeat) {
  const Plan plan = planned(start(), set_state("web-2", BackendState::draining));
  const BackendMoves& drained = moves_of(plan, "web-2");
  EXPECT_EQ(plan.pools[0].seats_moved, 0U);
  EXPECT_EQ(drained.seats_after, drained.seats_before);
  EXPECT_EQ(drained.first_after, 0U);
  EXPECT_EQ(drained.first_lost, drained.first_before);
  EXPECT_EQ(plan.pools[0].first_moved, drained.first_before);
  EXPECT_FALSE(plan.needs_force());
}

TEST(Plan, GainsAndLossesAddUp) {
  const Plan plan = planned(start(), SetBackendWeight{"web", "web-1", 1000});
  for (const BackendMoves& moves : plan.pools[0].backends)
    EXPECT_EQ(moves.first_before + moves.first_gained - moves.first_lost, moves.first_after) << moves.backend;
}

struct ForceCase {
  const char* description;
  std::vector<Change> before;
  Change change;
  HealthView health;
  bool needs_force;
  std::vector<std::string> breaking;
};

std::vector<ForceCase> force_cases() {
  const auto draining = set_state("web-2", BackendState::draining);
  const auto disabled = set_state("web-2", BackendState::disabled);
  const HealthView down{{"web", {{"web-2", Health::down}}}};
  Site moved = sites::site(3);
  moved.pools[0].backends[1].address = sites::ip("10.9.9.9");
  Site reseeded = sites::site(3);
  reseeded.hash_seed = 1;
  Site renamed_pool = sites::site(3);
  renamed_pool.pools[0].name = renamed_pool.services[0].pool = "web2";
  Site unnamed = sites::site(3);
  unnamed.pools[0].flow_table = false;
  Site one_hop = unnamed;
  one_hop.pools[0].hop_rules.hops = 1;
  Site idle = sites::site(3);
  idle.services.clear();
  return {
      {"an active backend removed", {}, RemoveBackend{"web", "web-2"}, {}, true, {"web-2"}},
      {"a draining one removed", {draining}, RemoveBackend{"web", "web-2"}, {}, false, {}},
      {"a disabled one removed", {draining, disabled}, RemoveBackend{"web", "web-2"}, {}, false, {}},
      {"one that is down removed", {}, RemoveBackend{"web", "web-2"}, down, false, {}},
      {"an active backend disabled", {}, disabled, {}, true, {"web-2"}},
      {"a draining one disabled", {draining}, disabled, {}, false, {}},
      {"drain", {}, draining, {}, false, {}},
      {"undrain", {draining}, set_state("web-2", BackendState::active), {}, false, {}},
      {"enable", {draining, disabled}, set_state("web-2", BackendState::active), {}, false, {}},
      {"add", {}, AddBackend{"web", sites::backend(4)}, {}, false, {}},
      {"reweight", {}, SetBackendWeight{"web", "web-1", 1}, {}, false, {}},
      {"add without a flow table",
       {ReplaceSite{unnamed}},
       AddBackend{"web", sites::backend(4)},
       {},
       false,
       {}},
      {"add with one hop and no flow table",
       {ReplaceSite{one_hop}},
       AddBackend{"web", sites::backend(4)},
       {},
       true,
       {"web-1", "web-2", "web-3"}},
      {"another address", {}, ReplaceSite{moved}, {}, true, {"web-2"}},
      {"another seed", {}, ReplaceSite{reseeded}, {}, true, {"web-1", "web-2", "web-3"}},
      {"a pool that no service uses", {ReplaceSite{idle}}, RemoveBackend{"web", "web-2"}, {}, false, {}},
      {"a service's pool changed", {}, ReplaceSite{renamed_pool}, {}, true, {}},
  };
}

TEST(Plan, AsksForForceWhereConnectionsBreak) {
  for (const ForceCase& each : force_cases()) {
    const Plan plan = planned(start(each.before), each.change, each.health);
    EXPECT_EQ(plan.needs_force(), each.needs_force) << each.description;
    std::vector<std::string> breaking;
    for (const PoolMoves& moves : plan.pools)
      breaking.insert(breaking.end(), moves.breaking.begin(), moves.breaking.end());
    EXPECT_EQ(breaking, each.breaking) << each.description;
  }
}

TEST(Plan, SeveralChangesOfOneApplyAreOneDeal) {
  Site target = sites::site(5);
  target.pools[0].backends.erase(target.pools[0].backends.begin());
  const SiteVersion before = start();
  const Plan plan = planned(before, ReplaceSite{target});
  std::vector<Member> members;
  for (const Backend& backend : target.pools[0].backends) members.push_back({backend.name, backend.weight});
  const std::vector<BackendState> states(3, BackendState::active);
  EXPECT_EQ(*plan.after.seatings.at("web"), *deal(*before.seatings.at("web"), states, members));
}

TEST(Plan, UntouchedPoolsAreSharedAndNotListed) {
  Site site = sites::site(3);
  Pool other = sites::pool(2);
  other.name = "api";
  site.pools.push_back(other);
  const SiteVersion before = sites::version_of(site);
  const Plan plan = planned(before, AddBackend{"web", sites::backend(4)});
  EXPECT_EQ(plan.pools.size(), 1U);
  EXPECT_EQ(plan.after.seatings.at("api"), before.seatings.at("api"));
}

TEST(Plan, ANewSeedStartsFromAnEmptySeating) {
  SiteVersion before = start({AddBackend{"web", sites::backend(4)}});
  Site reseeded = before.site;
  reseeded.hash_seed = 77;
  const Plan plan = planned(before, ReplaceSite{reseeded});
  Site fresh = reseeded;
  EXPECT_EQ(*plan.after.seatings.at("web"), *sites::version_of(fresh).seatings.at("web"));
}

TEST(Plan, WithoutAFlowTableASecondDealSaysWhatItForgets) {
  for (const bool flow_table : {true, false}) {
    Site site = sites::site(4);
    site.pools[0].flow_table = flow_table;
    SiteVersion version = sites::version_of(site);
    const Plan first = planned(version, AddBackend{"web", sites::backend(5)});
    EXPECT_EQ(first.pools.at(0).rows_forgotten, 0U) << "the first deal has nothing to forget";
    EXPECT_TRUE(first.warnings.empty());
    const Plan second = planned(first.after, AddBackend{"web", sites::backend(6)});
    EXPECT_FALSE(second.needs_force());
    // By hand: rows whose former was a hop and is none any more.
    const auto rows_before = sites::rows_of(first.after, first.after.site.pools[0], {});
    const auto rows_after = sites::rows_of(second.after, second.after.site.pools[0], {});
    const Seating& seating = *first.after.seatings.at("web");
    std::uint32_t forgotten = 0;
    for (std::uint32_t row = 0; row < seating.row_count; ++row) {
      const MemberIndex former = seating.former[row];  // web-6 comes last, so indices stay
      const auto has = [former](const Row& r) {
        return std::find(r.hop.begin(), r.hop.end(), former) != r.hop.end();
      };
      if (former != no_member && has(rows_before[row]) && !has(rows_after[row])) ++forgotten;
    }
    EXPECT_GT(forgotten, 0U);
    EXPECT_EQ(second.pools.at(0).rows_forgotten, flow_table ? 0U : forgotten);
    ASSERT_EQ(second.warnings.size(), flow_table ? 0U : 1U);
    if (!flow_table) {
      EXPECT_NE(second.warnings[0].find("rows remember one deal"), std::string::npos) << second.warnings[0];
    }
    const Plan drain = planned(first.after, set_state("web-1", BackendState::draining));
    EXPECT_EQ(drain.pools.at(0).rows_forgotten, 0U) << "a drain deals nothing";
  }
}

TEST(Plan, RowsAreAsHealthMakesThem) {
  const SiteVersion version = start();
  const HealthView down{{"web", {{"web-2", Health::down}}}};
  const auto rows = sites::rows_of(version, version.site.pools[0], down);
  for (const Row& row : rows) EXPECT_NE(row.hop[0], 1);  // web-2 stands second in byte order of names
  RecentRows recent;
  EXPECT_EQ(
      site_digest(version, version.site.pools[0], recent),
      rows_digest(sites::rows_of(version, version.site.pools[0], {}), version.seatings.at("web")->members));
}

TEST(Plan, UnknownHealthCountsAsInitial) {
  Site site = sites::site(3);
  site.pools[0].health.initial = Health::down;
  const SiteVersion version = sites::version_of(site);
  const HealthView view{{"web", {{"web-1", Health::up}, {"web-2", Health::unknown}}}};
  const auto statuses = statuses_of(*version.seatings.at("web"), version.site.pools[0], view);
  EXPECT_EQ(statuses[0].health, Health::up);
  EXPECT_EQ(statuses[1].health, Health::down);
  EXPECT_EQ(statuses[2].health, Health::down);
}

}  // namespace
}  // namespace guideway
