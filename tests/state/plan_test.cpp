// Plans: what a change moves, what it breaks, and when --force is asked for.
#include "state/plan.h"

#include <gtest/gtest.h>

#include "sites.h"
#include "state/plan_sentences.h"
#include "state/seatings.h"

namespace guideway {
namespace {

// sites::site(size) after `edits`.
SiteVersion start(const std::vector<Change>& edits = {}, const Site& site = sites::site(3)) {
  SiteVersion version = sites::version_of(site);
  for (const Change& edit : edits) version = plan(version, {}, edit)->after;
  return version;
}

Plan planned(const SiteVersion& before, const Change& change, const HealthView& health = {},
             const LiveFlows& flows = {}) {
  auto out = plan(before, health, change, flows);
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
  std::optional<std::uint64_t> flows = 0;  // live ones of whoever is asked about; nullopt: nobody counts
};

LiveFlows counting(std::optional<std::uint64_t> flows) {
  LiveFlows out{{}, std::chrono::hours(1)};
  if (flows) out.count = [flows](const std::string&, const std::string&) { return FlowCount{*flows, {}}; };
  return out;
}

Site with_services(std::vector<Service> services) {
  Site out = sites::site(3);
  Pool other = sites::pool(2);
  other.name = "api";
  out.pools.push_back(other);
  out.services = std::move(services);
  return out;
}

Service claim(const char* name, const char* address, std::uint8_t prefix_length, std::vector<PortRange> ports,
              const char* pool = "web") {
  return {.name = name,
          .address = sites::ip(address),
          .prefix_length = prefix_length,
          .ports = std::move(ports),
          .pool = pool};
}

std::vector<ForceCase> force_cases() {
  const auto draining = set_state("web-2", BackendState::draining);
  const auto disabled = set_state("web-2", BackendState::disabled);
  const HealthView down{{"web", {{"web-2", Health::down}}}};
  Site moved = sites::site(3);
  moved.pools.edit(0).backends[1].address = sites::ip("10.9.9.9");
  Site moved_draining = moved;
  moved_draining.pools.edit(0).backends[1].state = BackendState::draining;
  const auto drain_3 = set_state("web-3", BackendState::draining);
  Site reseeded = sites::site(3);
  reseeded.hash_seed = 1;
  Site renamed_pool = sites::site(3);
  renamed_pool.pools.edit(0).name = renamed_pool.services.edit(0).pool = "web2";
  Site unnamed = sites::site(3);
  unnamed.pools.edit(0).flow_table = false;
  Site one_hop = unnamed;
  one_hop.pools.edit(0).hop_rules.hops = 1;
  Site moves_away = sites::site(3);
  moves_away.pools.edit(0).on_down = OnDown::move;
  Site idle = sites::site(3);
  idle.services = {};
  return {
      {"an active backend removed", {}, RemoveBackend{"web", "web-2"}, {}, true, {"web-2"}},
      {"a drained one removed", {draining}, RemoveBackend{"web", "web-2"}, {}, false, {}},
      {"a draining one with flows removed",
       {draining},
       RemoveBackend{"web", "web-2"},
       {},
       true,
       {"web-2"},
       4},
      {"a draining one removed, unknown flows",
       {draining},
       RemoveBackend{"web", "web-2"},
       {},
       true,
       {"web-2"},
       std::nullopt},
      {"a draining one removed without a flow table",
       {ReplaceSite{unnamed}, draining},
       RemoveBackend{"web", "web-2"},
       {},
       true,
       {"web-2"}},
      {"a draining one with flows disabled", {draining}, disabled, {}, true, {"web-2"}, 1},
      {"a draining one with flows at another address",
       {draining},
       ReplaceSite{moved_draining},
       {},
       true,
       {"web-2"},
       1},
      {"the last one drained", {draining, drain_3}, set_state("web-1", BackendState::draining), {}, true, {}},
      {"an empty site", {}, ReplaceSite{Site{}}, {}, true, {}},
      {"a disabled one removed", {draining, disabled}, RemoveBackend{"web", "web-2"}, {}, false, {}},
      {"one that is down removed", {}, RemoveBackend{"web", "web-2"}, down, false, {}},
      {"one that is down and has connections removed",
       {},
       RemoveBackend{"web", "web-2"},
       down,
       true,
       {"web-2"},
       4},
      {"one that is down, and its connections went elsewhere, removed",
       {ReplaceSite{moves_away}},
       RemoveBackend{"web", "web-2"},
       down,
       false,
       {},
       4},
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
    const Plan plan = planned(start(each.before), each.change, each.health, counting(each.flows));
    EXPECT_EQ(breaks_of(plan).empty(), !each.needs_force) << each.description;
    EXPECT_EQ(plan.needs_force(), each.needs_force) << each.description;
    std::vector<std::string> breaking;
    for (const PoolMoves& moves : plan.pools)
      breaking.insert(breaking.end(), moves.breaking.begin(), moves.breaking.end());
    EXPECT_EQ(breaking, each.breaking) << each.description;
  }
}

struct CutCase {
  const char* description;
  std::vector<Service> before, after;
  std::vector<std::string> cut;  // the sentence's end of each
};

std::vector<CutCase> cut_cases() {
  const auto www = claim("www", "203.0.113.10", 32, {{80, 80}, {443, 443}});
  const auto net = claim("net", "203.0.113.0", 24, {});
  return {
      {"nothing", {www}, {www}, {}},
      {"removed", {www}, {}, {"all connections would end: nobody would serve them"}},
      {"a port less",
       {www},
       {claim("www", "203.0.113.10", 32, {{80, 80}})},
       {"the connections on ports 443 would end: nobody would serve them"}},
      {"a port more", {www}, {claim("www", "203.0.113.10", 32, {{80, 81}, {443, 443}})}, {}},
      {"any port", {www}, {claim("www", "203.0.113.10", 32, {})}, {}},
      {"any port but some",
       {claim("www", "203.0.113.10", 32, {})},
       {claim("www", "203.0.113.10", 32, {{1, 80}})},
       {"the connections on ports 0,81-65535 would end: nobody would serve them"}},
      {"a wider prefix", {www}, {claim("www", "203.0.113.0", 24, {{80, 80}, {443, 443}})}, {}},
      {"half of the prefix",
       {net},
       {claim("net", "203.0.113.0", 25, {})},
       {"all connections of a part of its addresses would end: nobody would serve them"}},
      {"another name", {www}, {claim("web", "203.0.113.10", 32, {{80, 80}, {443, 443}})}, {}},
      {"split in two",
       {www},
       {claim("www", "203.0.113.10", 32, {{80, 80}}), claim("tls", "203.0.113.10", 32, {{443, 443}})},
       {}},
      {"another pool",
       {www},
       {claim("www", "203.0.113.10", 32, {{80, 80}, {443, 443}}, "api")},
       {"all connections would be decided anew"}},
      {"a new one takes a port",
       {net},
       {net, claim("one", "203.0.113.9", 32, {{80, 80}}, "api")},
       {"the connections on ports 80 of a part of its addresses would be decided anew"}},
      {"a new one of the same pool", {net}, {net, claim("one", "203.0.113.9", 32, {{80, 80}})}, {}},
      {"what was another's is not its",
       {net, www},
       {net, claim("www", "203.0.113.10", 32, {{443, 443}})},
       {}},
      {"another protocol",
       {www},
       {[&] {
         Service udp = www;
         udp.protocol = 17;
         return udp;
       }()},
       {"all connections would end: nobody would serve them"}},
  };
}

TEST(Plan, ServicesThatCoverLessAreCut) {
  for (const CutCase& each : cut_cases()) {
    const Plan plan = planned(start({}, with_services(each.before)), ReplaceSite{with_services(each.after)});
    EXPECT_EQ(plan.needs_force(), !each.cut.empty()) << each.description;
    const auto breaks = breaks_of(plan);
    ASSERT_EQ(breaks.size(), each.cut.size()) << each.description;
    for (std::size_t i = 0; i < breaks.size(); ++i)
      EXPECT_TRUE(breaks[i].ends_with(": " + each.cut[i])) << each.description << ": " << breaks[i];
  }
}

TEST(Plan, AServiceWithoutConnectionsMayGo) {
  Site site = sites::site(3);
  site.pools.edit(0).backends.clear();
  EXPECT_FALSE(planned(start({}, site), RemoveService{"www"}).needs_force());
}

TEST(Plan, ADrainThatThisDirectorKnowsToHaveEndedSaysWhoElseMayKnow) {
  const SiteVersion version = start({set_state("web-2", BackendState::draining)});
  const auto warning = [&](std::chrono::seconds up) {
    LiveFlows flows = counting(0);
    flows.known_for = up;
    const Plan plan = planned(version, RemoveBackend{"web", "web-2"}, {}, flows);
    EXPECT_FALSE(plan.needs_force());
    return plan.warnings.size() == 1 ? plan.warnings[0] : "";
  };
  EXPECT_EQ(warning(std::chrono::hours(1)),
            "web-2 of pool \"web\" has no live flows here; other directors of the site may know some");
  EXPECT_NE(
      warning(std::chrono::seconds(40)).find("counted for 40s only, less than timeouts.established (15m)"),
      std::string::npos)
      << warning(std::chrono::seconds(40));
}

// What a drain, its end and an add lose in a pool without a flow table, told before each step.
TEST(Plan, AStandInThatWouldBeForgottenIsTold) {
  Site site = sites::site(3);
  site.pools.edit(0).flow_table = false;
  SiteVersion version = start({}, site);
  const auto rows_of_now = [&version] {
    RecentRows none;
    return *rows_of(version, version.site.pools[0], {}, none);
  };
  const auto has = [](const Row& row, MemberIndex member) {
    return std::find(row.hop.begin(), row.hop.end(), member) != row.hop.end();
  };
  version = plan(version, {}, set_state("web-1", BackendState::draining))->after;
  const auto drained = rows_of_now();
  version = plan(version, {}, set_state("web-1", BackendState::active))->after;
  const Plan add = planned(version, AddBackend{"web", sites::backend(4)});
  version = add.after;
  const auto added = rows_of_now();
  // web-4 comes behind the others in name order, so members keep their places.
  std::uint32_t lost = 0;
  for (std::size_t row = 0; row < drained.size(); ++row)
    if (drained[row].takes_new != 0 && !has(added[row], drained[row].hop[0])) ++lost;
  ASSERT_GT(lost, 0U) << "this story loses nothing, so it shows nothing";
  EXPECT_FALSE(add.needs_force());
  const PoolMoves& moves = add.pools.at(0);
  EXPECT_GE(moves.rows_stand_in_forgotten + moves.rows_forgotten, lost);
  EXPECT_LT(moves.rows_stand_in_forgotten, moves.rows);
  const auto told = std::count_if(add.warnings.begin(), add.warnings.end(), [](const std::string& warning) {
    return warning.find("took new flows there if others were draining or down") != std::string::npos;
  });
  EXPECT_EQ(told, 1);
}

TEST(Plan, ADrainThatIsNotKnownToHaveEndedAsksForForce) {
  const SiteVersion version = start({set_state("web-2", BackendState::draining)});
  Site moved = version.site;
  moved.pools.edit(0).backends[1].address = sites::ip("10.9.9.9");
  const UnseenFlows unseen{Unseen::started, std::chrono::seconds(40), std::chrono::minutes(14)};
  const auto flows = [&unseen](std::uint64_t open) {
    return LiveFlows{[&unseen, open](const std::string&, const std::string&) {
                       return FlowCount{open, unseen};
                     },
                     std::chrono::seconds(40)};
  };
  for (const Change& change : std::vector<Change>{
           RemoveBackend{"web", "web-2"}, set_state("web-2", BackendState::disabled), ReplaceSite{moved}}) {
    const Plan plan = planned(version, change, {}, flows(0));
    EXPECT_TRUE(plan.needs_force());
    EXPECT_EQ(plan.pools.at(0).breaking, std::vector<std::string>{"web-2"});
    const auto breaks = breaks_of(plan);
    ASSERT_EQ(breaks.size(), 1U);
    EXPECT_EQ(
        breaks[0],
        "web-2 of pool \"web\" has no live flows that this director knows and may have flows that nobody "
        "here has counted: " +
            unseen_sentence(unseen));
    EXPECT_NE(
        instead_of_force(plan).find("wait until it is known (`guideway backend drain web web-2 --wait`)"),
        std::string::npos)
        << instead_of_force(plan);
    EXPECT_TRUE(plan.warnings.empty()) << "the refusal says more than the warning would";
  }
  const Plan some = planned(version, RemoveBackend{"web", "web-2"}, {}, flows(4));
  EXPECT_NE(breaks_of(some).at(0).find("still has 4 live flows and may have"), std::string::npos);
  EXPECT_FALSE(planned(version, set_state("web-2", BackendState::active), {}, flows(4)).needs_force());
  const HealthView down{{"web", {{"web-2", Health::down}}}};
  EXPECT_TRUE(planned(version, RemoveBackend{"web", "web-2"}, down, flows(4)).needs_force());
}

TEST(Plan, WhatOnlyTheFlowTableKeepsIsNoted) {
  Site one_hop = sites::site(3);
  one_hop.pools.edit(0).hop_rules.hops = 1;
  const Plan add = planned(start({}, one_hop), AddBackend{"web", sites::backend(4)});
  EXPECT_FALSE(add.needs_force());
  EXPECT_EQ(add.pools.at(0).rows_by_table, add.pools[0].seats_moved) << "one hop names the new holder only";
  ASSERT_EQ(notes_of(add).size(), 1U);
  EXPECT_NE(notes_of(add)[0].find("flow table only"), std::string::npos);
  EXPECT_TRUE(notes_of(planned(start(), set_state("web-1", BackendState::draining))).empty());
}

TEST(Plan, TheNextStepIsReadyToBeTyped) {
  const auto next = [](const std::vector<Change>& before, const Change& change,
                       std::optional<std::uint64_t> flows) {
    return instead_of_force(planned(start(before), change, {}, counting(flows)));
  };
  const auto drain = set_state("web-2", BackendState::draining);
  const RemoveBackend remove{"web", "web-2"};
  EXPECT_NE(next({}, remove, 0).find("drain first (`guideway backend drain web web-2 --wait`)"),
            std::string::npos);
  EXPECT_NE(next({drain}, remove, 3).find("wait for them (`guideway backend drain web web-2 --wait`)"),
            std::string::npos);
  EXPECT_NE(next({drain}, remove, std::nullopt).find("look at the connections of web-2"), std::string::npos);
}

TEST(Plan, SeveralChangesOfOneApplyAreOneDeal) {
  Site target = sites::site(5);
  std::erase_if(target.pools.edit(0).backends, [](const Backend& b) { return b.name == "web-1"; });
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
    site.pools.edit(0).flow_table = flow_table;
    SiteVersion version = sites::version_of(site);
    const Plan first = planned(version, AddBackend{"web", sites::backend(5)});
    EXPECT_EQ(first.pools.at(0).rows_forgotten, 0U) << "the first deal has nothing to forget";
    const auto warned = [](const Plan& plan) {
      return std::count_if(plan.warnings.begin(), plan.warnings.end(), [](const std::string& warning) {
        return warning.find("rows remember one deal") != std::string::npos;
      });
    };
    EXPECT_EQ(warned(first), 0);
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
    EXPECT_EQ(warned(second), flow_table ? 0 : 1);
    if (flow_table) {
      EXPECT_TRUE(second.warnings.empty());
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
  site.pools.edit(0).health.initial = Health::down;
  const SiteVersion version = sites::version_of(site);
  const HealthView view{{"web", {{"web-1", Health::up}, {"web-2", Health::unknown}}}};
  const auto statuses = statuses_of(*version.seatings.at("web"), version.site.pools[0], view);
  EXPECT_EQ(statuses[0].health, Health::up);
  EXPECT_EQ(statuses[1].health, Health::down);
  EXPECT_EQ(statuses[2].health, Health::down);
}

}  // namespace
}  // namespace guideway
