// The paper's example, and the turns that the rounds would give.
#include "tables/maglev.h"

#include <gtest/gtest.h>

#include <algorithm>

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
std::vector<std::uint32_t> turns_by_playing_rounds(const std::vector<Claim>& claims) {
  std::uint64_t top = 0;
  std::size_t total = 0;
  for (const Claim& claim : claims) top = std::max<std::uint64_t>(top, claim.weight), total += claim.rows;
  std::vector<std::uint64_t> credit(claims.size());
  std::vector<std::uint32_t> taken(claims.size()), turns;
  while (turns.size() < total) {
    for (std::uint32_t i = 0; i < claims.size(); ++i) {
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

TEST(Preference, MeetsEveryRowOnceAndKnowsWhen) {
  for (const std::uint32_t row_count : {251U, 65537U}) {
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
