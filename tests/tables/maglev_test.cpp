// The paper's example, and the turns that the rounds would give.
#include "tables/maglev.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tables/preference.h"

namespace guideway {
namespace {

std::vector<MemberIndex> deal_from_nothing(const std::vector<Claim>& claims, std::size_t row_count) {
  std::vector<MemberIndex> holder(row_count, no_member);
  maglev_deal(claims, holder);
  return holder;
}

TEST(Maglev, PaperExampleWithThreeBackends) {
  const std::vector<Claim> claims{{.member = 0, .rows = 3, .preference = {3, 4}},
                                  {.member = 1, .rows = 2, .preference = {0, 2}},
                                  {.member = 2, .rows = 2, .preference = {3, 1}}};
  EXPECT_EQ(deal_from_nothing(claims, 7), (std::vector<MemberIndex>{1, 0, 1, 0, 2, 2, 0}));
}

TEST(Maglev, PaperExampleWithoutTheSecond) {
  const std::vector<Claim> claims{{.member = 0, .rows = 4, .preference = {3, 4}},
                                  {.member = 2, .rows = 3, .preference = {3, 1}}};
  EXPECT_EQ(deal_from_nothing(claims, 7), (std::vector<MemberIndex>{0, 0, 0, 0, 2, 2, 2}));
}

// The rule as the contract words it: credits grow by w, a turn costs max(w).
std::vector<ClaimIndex> turns_by_playing_rounds(const std::vector<Claim>& claims) {
  std::uint64_t top = 0;
  std::size_t total = 0;
  for (const Claim& claim : claims) top = std::max<std::uint64_t>(top, claim.weight), total += claim.rows;
  std::vector<std::uint64_t> credit(claims.size());
  std::vector<std::uint32_t> taken(claims.size());
  std::vector<ClaimIndex> turns;
  while (turns.size() < total) {
    for (ClaimIndex i = 0; i < claims.size(); ++i) {
      if (taken[i] == claims[i].rows) continue;
      credit[i] += claims[i].weight;
      if (credit[i] < top) continue;
      credit[i] -= top;
      ++taken[i];
      turns.push_back(i);
    }
  }
  return turns;
}

TEST(Maglev, TurnsAreThoseOfTheRounds) {
  const struct {
    const char* what;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> weight_and_rows;
  } cases[] = {
      {"one member", {{100, 5}}},
      {"equal weights", {{100, 3}, {100, 3}, {100, 2}}},
      {"1 to 4", {{1, 2}, {2, 4}, {3, 6}, {4, 8}}},
      {"a thousand to one", {{1, 1}, {1000, 250}}},
      {"a weight that does not divide the top", {{7, 9}, {10, 12}, {3, 4}}},
      {"needs that do not follow the weights", {{5, 1}, {65535, 1}, {1, 3}, {5, 7}}},
  };
  for (const auto& c : cases) {
    std::vector<Claim> claims;
    for (const auto& [weight, rows] : c.weight_and_rows) claims.push_back({.weight = weight, .rows = rows});
    EXPECT_EQ(maglev_turns(claims), turns_by_playing_rounds(claims)) << c.what;
  }
}

// The paper's walk, step by step. The deal finds the last rows another way.
std::vector<MemberIndex> deal_by_walking(const std::vector<Claim>& claims, std::vector<MemberIndex> holder) {
  const auto row_count = static_cast<std::uint32_t>(holder.size());
  std::vector<std::uint32_t> next;
  for (const Claim& claim : claims) next.push_back(claim.preference.offset);
  for (const ClaimIndex turn : maglev_turns(claims)) {
    std::uint32_t& row = next[turn];
    while (holder[row] != no_member) row = next_row(claims[turn].preference, row, row_count);
    holder[row] = claims[turn].member;
  }
  return holder;
}

TEST(Maglev, TheLastRowsAreThoseOfTheWalk) {
  std::mt19937_64 random(2);
  for (const std::uint32_t row_count : {7U, 251U, 65537U, 655373U}) {
    for (const std::size_t claim_count : {1U, 2U, 3U, 7U, 100U, 5000U}) {
      if (claim_count > row_count / 2 && claim_count > 7) continue;
      std::vector<MemberIndex> holder(row_count, no_member);
      for (MemberIndex& h : holder) {
        if (random() % 3 == 0) h = 0;
      }
      auto left = static_cast<std::uint32_t>(std::count(holder.begin(), holder.end(), no_member));
      std::vector<Claim> claims;
      for (std::size_t i = 0; i < claim_count && left > 0; ++i) {
        const bool last = i + 1 == claim_count;
        const auto rows =
            static_cast<std::uint32_t>(last ? left : 1 + random() % (1 + 2 * left / claim_count));
        claims.push_back(
            {.member = static_cast<MemberIndex>(i),
             .weight = static_cast<std::uint32_t>(1 + random() % 9),
             .rows = std::min(rows, left),
             .preference = {.offset = static_cast<std::uint32_t>(random() % row_count),
                            .skip = static_cast<std::uint32_t>(1 + random() % (row_count - 1))}});
        left -= claims.back().rows;
      }
      const std::vector<MemberIndex> walked = deal_by_walking(claims, holder);
      maglev_deal(claims, holder);
      ASSERT_EQ(holder, walked) << row_count << " rows, " << claim_count << " claims";
    }
  }
}

TEST(Preference, MeetsEveryRowOnceAndKnowsWhen) {
  for (const std::uint32_t row_count : {251U, 65537U, 5000011U}) {
    for (const char* name : {"a", "web-1", "web-2", "a-rather-long-name.of.a-backend_0123456789"}) {
      const Preference preference = preference_of(name, 0xfffffffffffffffe, row_count);
      const PreferencePosition position(preference, row_count);
      std::vector<bool> met(row_count);
      std::uint32_t row = preference.offset;
      for (std::uint32_t j = 0; j < row_count; ++j, row = next_row(preference, row, row_count)) {
        ASSERT_EQ(position(row), j) << name << " at row " << row;
        ASSERT_FALSE(met[row]) << name << " at row " << row;
        met[row] = true;
      }
    }
  }
}

}  // namespace
}  // namespace guideway
