// What a deal keeps after every history (contract 1, items 3 and 7).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "tables/quota.h"
#include "tests/tables/pool_story.h"

namespace guideway {
namespace {

std::map<std::string, std::uint32_t> rows_held_by_name(const Seating& seating) {
  std::map<std::string, std::uint32_t> held;
  for (const MemberIndex holder : seating.holder) {
    if (holder != no_member) ++held[seating.members[holder].name];
  }
  return held;
}

std::string name_or_none(const Seating& seating, MemberIndex member) {
  return member == no_member ? "" : seating.members[member].name;
}

RC_GTEST_PROP(DealProperty, SharesAreExactAfterAnyChain, ()) {
  const PoolStory story = some_pool(*rc::gen::element(DealMode::stable, DealMode::scratch));
  const Seating& seating = story.seating();
  RC_ASSERT(check_seating(seating).has_value());
  const auto quota = quotas(seating.members, seating.row_count);
  auto held = rows_held_by_name(seating);
  const double total = std::accumulate(seating.members.begin(), seating.members.end(), 0.0,
                                       [](double sum, const Member& member) { return sum + member.weight; });
  for (std::size_t i = 0; i < seating.members.size(); ++i) {
    const Member& member = seating.members[i];
    RC_ASSERT(held[member.name] == quota[i]);
    RC_ASSERT(std::abs(held[member.name] - seating.row_count * member.weight / total) < 1);
  }
}

RC_GTEST_PROP(DealProperty, MovesOnlyWhatTheQuotasDemand, ()) {
  PoolStory story = some_pool();
  const Seating before = story.seating();
  const auto kind = *rc::gen::element(Change::toggle_member, Change::weigh, Change::deal_several);
  story.play({kind, *rc::gen::inRange(0U, PoolStory::names), *rc::gen::inRange(0U, 1U << PoolStory::names)});
  const Seating& after = story.seating();
  RC_PRE(!after.members.empty());

  auto held = rows_held_by_name(before), quota = rows_held_by_name(after);
  std::map<std::string, bool> stays;
  for (const Member& member : after.members) stays[member.name] = true;
  std::uint32_t demanded = 0, moved = 0;
  for (const auto& [name, rows] : held) demanded += stays[name] ? rows - std::min(rows, quota[name]) : rows;
  for (std::uint32_t row = 0; row < after.row_count; ++row) {
    const std::string was = name_or_none(before, before.holder[row]);
    moved += !was.empty() && was != name_or_none(after, after.holder[row]);
  }
  RC_ASSERT(moved == demanded);
}

RC_GTEST_PROP(DealProperty, TheFormerIsWhoServedTheRow, ()) {
  PoolStory story = some_pool();
  const Seating before = story.seating();
  const auto states = story.states();
  std::vector<MemberStatus> healthy;
  for (const BackendState state : states) healthy.push_back({.state = state});
  const std::vector<Row> rows = build_rows(before, healthy, {});
  story.play({Change::toggle_member, *rc::gen::inRange(0U, PoolStory::names), 0});
  const Seating& after = story.seating();

  for (std::uint32_t row = 0; row < after.row_count; ++row) {
    const std::string holder = name_or_none(after, after.holder[row]);
    if (name_or_none(before, before.holder[row]) == holder || rows[row].takes_new == 0) continue;
    const std::string served = before.members[rows[row].hop[0]].name;
    const bool stays = std::any_of(after.members.begin(), after.members.end(),
                                   [&](const Member& member) { return member.name == served; });
    if (stays && served != holder) RC_ASSERT(name_or_none(after, after.former[row]) == served);
  }
}

RC_GTEST_PROP(DealProperty, TenInsertionOrdersOneDigest, ()) {
  PoolStory story = some_pool();
  std::vector<Member> members = story.members();
  members.push_back({"newcomer", 100});
  std::mt19937_64 shuffle(*rc::gen::arbitrary<std::uint64_t>());
  std::set<std::uint64_t> digests;
  for (int order = 0; order < 10; ++order) {
    std::shuffle(members.begin(), members.end(), shuffle);
    const Seating seating = deal(story.seating(), story.states(), members).value();
    digests.insert(site_digest(seating, std::vector<BackendState>(members.size()), {}));
  }
  RC_ASSERT(digests.size() == 1U);
}

RC_GTEST_PROP(DealProperty, ScratchForgetsTheWay, ()) {
  const PoolStory story = some_pool(DealMode::scratch);
  const Seating fresh =
      deal(empty_seating(story.seating().seed, story.seating().row_count), {}, story.members()).value();
  RC_ASSERT(story.seating().holder == fresh.holder);
}

}  // namespace
}  // namespace guideway
