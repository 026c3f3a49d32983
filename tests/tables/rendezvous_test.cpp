// How members rank for a row (contract 1, item 4), and the bounds that spare nearly all of the ranking.
#include "tables/rendezvous.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "tables/challenges.h"
#include "tables/mix.h"
#include "tables/reach.h"

namespace guideway {
namespace {

// mix_folded(fold_of_draw(u)) is u: the mix is undone from its last step to its first.
constexpr std::uint64_t inverse_of_odd(std::uint64_t odd) {
  std::uint64_t inverse = odd;  // right in three bits; each step doubles them
  for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}
constexpr std::uint64_t fold_of_draw(std::uint64_t draw) {
  return fold(fold(draw) * inverse_of_odd(mix_factor_second)) * inverse_of_odd(mix_factor_first);
}
constexpr std::uint64_t fold_of_largest_draw = fold_of_draw(~std::uint64_t{0});
static_assert(mix_folded(fold_of_largest_draw) == ~std::uint64_t{0});

RC_GTEST_PROP(RendezvousProperty, TheBestIsTheFirstOfTheRanking, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 60);
  std::vector<Member> members;
  for (std::size_t i = 0; i < count; ++i) {
    members.push_back({fmt::format("m{:02}", i), *rc::gen::element(1U, 2U, 100U, 101U, 999U, 65535U)});
  }
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::vector<std::uint8_t> takes_part;
  for (std::size_t i = 0; i < count; ++i) takes_part.push_back(*rc::gen::inRange(0, 4) != 0 ? 2 : 1);
  const Rendezvous everybody(members, seed), some(everybody, takes_part, 2);
  for (std::uint32_t row = 0; row < 200; ++row) {
    const auto ranked = everybody.ranking(row);
    RC_ASSERT(everybody.best(row) == ranked.front());
    const std::span<const MemberIndex> left_out(ranked.data(), std::min<std::size_t>(3, count));
    const auto next = std::find_if(ranked.begin() + static_cast<std::ptrdiff_t>(left_out.size()),
                                   ranked.end(), [&](MemberIndex m) { return takes_part[m] == 2; });
    RC_ASSERT(some.best(row, left_out) == (next == ranked.end() ? no_member : *next));
  }
}

// The bounds of all variants are the same to the bit, and so is who lies within.
TEST(Reach, EveryVariantSeesTheSame) {
  std::mt19937_64 random(11);
  ASSERT_STREQ(reach_variants().front().name, "plain");
  const ReachVariant& plain = reach_variants().front();
  constexpr std::size_t most = 20 * reach_block;
  std::vector<std::uint64_t> name_fold(most);
  std::vector<float> inverse_weight(most), bound(most), bound_too(most);
  std::vector<std::uint16_t> found(most), found_too(most);
  std::size_t found_in_all = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::size_t count = random() % (most / reach_block + 1) * reach_block;
    const std::uint64_t row_fold = random();
    for (std::size_t i = 0; i < count; ++i) {
      // Now and then the two ends of what a draw can be: mix(0) is 0, and the fold that leads to all ones.
      name_fold[i] = random() % 50 == 0   ? row_fold
                     : random() % 50 == 0 ? row_fold ^ fold_of_largest_draw
                                          : random();
      inverse_weight[i] = random() % 9 == 0
                              ? std::numeric_limits<float>::quiet_NaN()
                              : 1 / static_cast<float>(random() % 3 == 0 ? 65535 : 1 + random() % 99);
    }
    const float least = plain.bounds(name_fold.data(), inverse_weight.data(), count, row_fold, bound.data());
    const float limit = count == 0 ? 1 : random() % 2 == 0 ? least : std::fabs(bound[random() % count]);
    const std::size_t near = plain.within(bound.data(), count, limit, found.data());
    found_in_all += near;
    for (const ReachVariant& variant : reach_variants()) {
      ASSERT_EQ(variant.bounds(name_fold.data(), inverse_weight.data(), count, row_fold, bound_too.data()),
                least)
          << variant.name;
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(bound[i] == bound_too[i] || (std::isnan(bound[i]) && std::isnan(bound_too[i])))
            << variant.name << ", round " << round << ": " << bound[i] << ' ' << bound_too[i];
      }
      ASSERT_EQ(variant.within(bound_too.data(), count, limit, found_too.data()), near) << variant.name;
      ASSERT_TRUE(
          std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(near), found_too.begin()))
          << variant.name << ", round " << round;
    }
  }
  EXPECT_GT(found_in_all, 500'000U);
}

// Who leads in sixteen rows, by the rule as it is written, one bound after the other.
void lead_by_the_rule(const std::vector<std::uint64_t>& name_fold, const std::vector<float>& inverse_weight,
                      std::size_t count, RowBlock& rows) {
  for (std::size_t k = 0; k < reach_block; ++k) {
    rows.leader[k] = nobody_leads;
    std::vector<float> others;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i == rows.left_out[0][k] || i == rows.left_out[1][k] || i == rows.left_out[2][k]) continue;
      others.push_back(reach_bound(name_fold[i] ^ rows.row_fold[k], inverse_weight[i]));
      if (rows.leader[k] != nobody_leads && others.back() >= rows.least[k]) continue;
      rows.leader[k] = i;
      rows.least[k] = others.back();
    }
    std::sort(others.begin(), others.end());
    constexpr float infinity = std::numeric_limits<float>::infinity();
    others.resize(std::max<std::size_t>(others.size(), 2), infinity);
    rows.least[k] = others[0];
    rows.next[k] = others[1];
  }
}

TEST(Reach, EveryVariantKnowsWhoLeads) {
  std::mt19937_64 random(13);
  std::size_t alike = 0;
  for (int round = 0; round < 5'000; ++round) {
    const std::size_t count = random() % 40;
    std::vector<std::uint64_t> name_fold(count);
    std::vector<float> inverse_weight(count);
    RowBlock expected;
    for (std::size_t k = 0; k < reach_block; ++k) {
      expected.row_fold[k] = random();
      for (auto& left_out : expected.left_out) {
        left_out[k] =
            count == 0 || random() % 3 == 0 ? nobody_leads : static_cast<std::uint32_t>(random() % count);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      // Some candidates are alike, and some have the ends of what a draw can be in one of the rows.
      const std::uint64_t row_fold = expected.row_fold[random() % reach_block];
      const bool like_another = i > 0 && random() % 10 == 0;
      alike += like_another ? 1 : 0;
      name_fold[i] = like_another         ? name_fold[random() % i]
                     : random() % 20 == 0 ? row_fold
                     : random() % 20 == 0 ? row_fold ^ fold_of_largest_draw
                                          : random();
      inverse_weight[i] = 1 / static_cast<float>(random() % 3 == 0 ? 65535 : 1 + random() % 99);
    }
    lead_by_the_rule(name_fold, inverse_weight, count, expected);
    for (const ReachVariant& variant : reach_variants()) {
      if (variant.lead == nullptr) continue;
      RowBlock rows = expected;
      rows.leader.fill(7);
      rows.least.fill(-1);
      rows.next.fill(-1);
      variant.lead(name_fold.data(), inverse_weight.data(), count, rows);
      ASSERT_EQ(rows.leader, expected.leader) << variant.name << ", round " << round;
      ASSERT_EQ(rows.least, expected.least) << variant.name << ", round " << round;
      ASSERT_EQ(rows.next, expected.next) << variant.name << ", round " << round;
    }
  }
  EXPECT_GT(alike, 5'000U);
}

// What the bounds are worth: whoever ranks no worse than a member lies within that member's reach, as everybody lies
// within their own; and the reach that spares the logarithm is none too small.
TEST(Reach, NobodyWhoRanksBetterIsOutOfReach) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2'000'000; ++round) {
    // Draws of every size near both ends.
    const std::uint64_t small = random() >> (random() % 64), draw = random() % 2 == 0 ? small : ~small;
    const auto weight =
        static_cast<std::uint32_t>(random() % 2 == 0 ? 1 + random() % weight_max : 1 + random() % 3);
    const float inverse_weight = 1 / static_cast<float>(weight);
    // x + x^2/2 in units of 2^-31.
    const auto x = static_cast<float>(static_cast<std::int32_t>(~draw >> 33));
    const float bound = x * (1 + x * 0x1p-32F) * inverse_weight;
    const float reach = reach_of(draw_distance(draw), inverse_weight);
    ASSERT_EQ(bound, reach_bound(fold_of_draw(draw), inverse_weight));
    ASSERT_LE(bound, reach) << draw << ' ' << weight;
    ASSERT_LE(reach, reach_at_most(reach_bound(fold_of_draw(draw), 1)) * inverse_weight) << draw;
    ASSERT_LE(reach, reach_at_most(bound * static_cast<float>(weight)) * inverse_weight)
        << draw << ' ' << weight;
  }
}

struct UnequalMembers {
  std::vector<Member> members;
  std::vector<std::uint8_t> takes_part;  // 2: it does
};

// One in eight of the heaviest; the others anything, so that some pools are nearly one member's. Three in four take part.
UnequalMembers unequal_members(std::mt19937_64& random, std::size_t count, std::uint32_t weight_top) {
  UnequalMembers out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto weight =
        static_cast<std::uint32_t>(random() % 8 == 0 ? weight_top : 1 + random() % weight_top % 100);
    out.members.push_back({fmt::format("m{:05}", i), weight});
    out.takes_part.push_back(random() % 4 != 0 ? 2 : 1);
  }
  return out;
}

TEST(Rendezvous, EveryVariantFindsTheBestOfTheRanking) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 300U, 1024U, 1025U, 2500U}) {
    for (const std::uint32_t weight_top : {1U, 3U, 65535U}) {
      const UnequalMembers drawn = unequal_members(random, count, weight_top);
      const Rendezvous everybody(drawn.members, count);
      std::vector<Rendezvous> some;
      for (const ReachVariant& variant : reach_variants()) {
        some.emplace_back(Rendezvous(drawn.members, count, variant), drawn.takes_part, std::uint8_t{2});
      }
      for (std::uint32_t row = 0; row < 40; ++row) {
        const auto ranked = everybody.ranking(row);
        const std::span<const MemberIndex> left_out(ranked.data(), std::min<std::size_t>(row % 4, count));
        const auto next = std::find_if(ranked.begin() + static_cast<std::ptrdiff_t>(left_out.size()),
                                       ranked.end(), [&](MemberIndex m) { return drawn.takes_part[m] == 2; });
        for (std::size_t v = 0; v < some.size(); ++v) {
          ASSERT_EQ(some[v].best(row, left_out), next == ranked.end() ? no_member : *next)
              << reach_variants()[v].name << ", " << count << " members, row " << row;
        }
      }
    }
  }
}

// Asked together, sixteen side by side, the rows have the answers that they have one by one.
TEST(Rendezvous, ManyQuestionsHaveTheAnswersOfEach) {
  std::mt19937_64 random(17);
  for (const std::size_t count : {0U, 1U, 2U, 5U, 16U, 60U, 300U, 512U, 513U}) {
    for (const std::uint32_t weight_top : {1U, 3U, 65535U}) {
      const auto [members, takes_part] = unequal_members(random, count, weight_top);
      const Rendezvous reference(Rendezvous(members, count), takes_part, std::uint8_t{2});
      std::vector<RowQuestion> questions(1 + random() % 100);
      std::vector<MemberIndex> expected;
      for (RowQuestion& question : questions) {
        question.row = static_cast<std::uint32_t>(random() % rows_max);
        // Now and then who would be best is left out, or who takes no part.
        const std::size_t left_out = random() % 4;
        for (std::size_t j = 0; j < left_out && count > 0; ++j) {
          const std::span<const MemberIndex> before(question.left_out.data(), j);
          question.left_out[j] = random() % 2 == 0 ? static_cast<MemberIndex>(random() % count)
                                                   : reference.best(question.row, before);
        }
        expected.push_back(reference.best(question.row, question.left_out));
      }
      for (const ReachVariant& variant : reach_variants()) {
        const Rendezvous some(Rendezvous(members, count, variant), takes_part, std::uint8_t{2});
        std::vector<MemberIndex> answers(questions.size(), 12345);
        some.best(questions, answers);
        ASSERT_EQ(answers, expected) << variant.name << ", " << count << " members";
      }
    }
  }
}

// The filter of an update: it may name a row in doubt, but miss none where a newcomer ranks better.
TEST(Challenges, NobodyWhoOutranksIsMissed) {
  std::mt19937_64 random(9);
  std::vector<Member> members;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::uint32_t weights[] = {1, 65535, static_cast<std::uint32_t>(1 + random() % 999), 100};
    members.push_back({fmt::format("m{:03}", i), weights[i % std::size(weights)]});
  }
  std::size_t better = 0, named = 0;
  for (const ReachVariant& variant : reach_variants()) {
    const Rendezvous everybody(members, 1, variant);
    for (int round = 0; round < 400; ++round) {
      const std::vector<MemberIndex> newcomers(1 + random() % 2,
                                               static_cast<MemberIndex>(random() % members.size()));
      Challenges challenges(everybody, newcomers);
      std::vector<std::uint32_t> rows_named;
      std::set<std::uint32_t> rows_to_name;
      for (std::size_t i = random() % 2 * 40; i < Challenges::batch; ++i) {
        const auto in_place = static_cast<MemberIndex>(random() % members.size());
        const auto row = static_cast<std::uint32_t>(random() % rows_max);
        ASSERT_FALSE(challenges.full());
        challenges.add(row, in_place);
        if (outranks(everybody.standing(newcomers[0], row), everybody.standing(in_place, row))) {
          rows_to_name.insert(row);
        }
      }
      challenges.settle(rows_named);
      std::sort(rows_named.begin(), rows_named.end());
      rows_named.erase(std::unique(rows_named.begin(), rows_named.end()), rows_named.end());
      ASSERT_TRUE(
          std::includes(rows_named.begin(), rows_named.end(), rows_to_name.begin(), rows_to_name.end()))
          << variant.name << ", round " << round;
      better += rows_to_name.size();
      named += rows_named.size();
    }
  }
  EXPECT_GT(better, 50'000U);
  EXPECT_LT(named, better + better / 4);
}

// The bound that spares the logarithm must never spare a winner, nor the chords turn the order of the draws.
TEST(Rendezvous, TheLogarithmFallsAsTheDrawGrows) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t draw = random() >> (i % 64);
    const std::uint64_t step = random() >> (i % 63);
    const std::uint64_t larger = draw > ~step ? ~std::uint64_t{0} : draw + step;
    ASSERT_LE(draw_distance(larger), draw_distance(draw)) << draw << ' ' << larger;
  }
  EXPECT_EQ(draw_distance(0), std::uint64_t{1} << 38);
  EXPECT_GE(draw_distance(~std::uint64_t{0}), 1U);
}

TEST(Rendezvous, SharesFollowTheWeights) {
  const std::vector<Member> members{{"a", 1}, {"b", 2}, {"c", 5}};
  const Rendezvous everybody(members, 1);
  std::array<double, 3> won{};
  constexpr std::uint32_t row_count = 200'000;
  for (std::uint32_t row = 0; row < row_count; ++row) ++won[everybody.best(row)];
  // Five standard deviations of the largest.
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(won[i] / row_count, members[i].weight / 8.0, 0.006) << i;
}

}  // namespace
}  // namespace guideway
