// Counted rows: what they say of all rows is what a pass over all rows says, and so is where two of them differ.
#include "state/counted_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace guideway {
namespace {

Seating seating_of(std::size_t count, std::uint64_t seed) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < count; ++i)
    members.push_back({"b" + std::to_string(10 + i), static_cast<std::uint32_t>(1 + i % 3)});
  return deal(empty_seating(seed, 1009), {}, std::move(members), {}).value();
}

std::vector<MemberStatus> random_status(std::mt19937& random, std::size_t count) {
  std::vector<MemberStatus> out(count);
  for (MemberStatus& one : out) {
    if (random() % 4 == 0) one.state = random() % 2 == 0 ? BackendState::draining : BackendState::disabled;
    if (random() % 4 == 0) one.health = Health::down;
  }
  return out;
}

void expect_counts(const CountedRows& counted, const Seating& seating) {
  std::vector<std::uint32_t> seats(seating.members.size()), firsts(seats.size() + 1);
  for (std::size_t row = 0; row < seating.row_count; ++row) {
    if (seating.holder[row] != no_member) ++seats[seating.holder[row]];
    const Row& hops = counted.rows()[row];
    ++firsts[hops.takes_new != 0 ? hops.hop[0] : seats.size()];
  }
  EXPECT_EQ(counted.seats(), seats);
  EXPECT_EQ(counted.firsts(), firsts);
  EXPECT_EQ(counted.anybody_takes_new(), firsts.back() != seating.row_count);
}

TEST(CountedRows, AreThoseOfTheirStatusAndCountThem) {
  std::mt19937 random(1);
  for (std::uint64_t round = 0; round < 300; ++round) {
    const std::size_t count = 1 + random() % 12;
    const Seating seating = seating_of(count, round);
    const HopRules rules{.hops = 1 + static_cast<std::uint32_t>(random() % 3)};
    const auto before = random_status(random, count), after = random_status(random, count);
    const auto from = CountedRows::built(seating, before, rules);
    const auto to = CountedRows::made_from(from, seating, before, after, rules);
    EXPECT_EQ(from->rows(), build_rows(seating, before, rules));
    EXPECT_EQ(to->rows(), build_rows(seating, after, rules));
    expect_counts(*from, seating);
    expect_counts(*to, seating);

    std::vector<std::uint32_t> differing;
    for (std::uint32_t row = 0; row < seating.row_count; ++row)
      if (!(from->rows()[row] == to->rows()[row])) differing.push_back(row);
    for (const auto& said : {CountedRows::differing(from, to), CountedRows::differing(to, from)})
      EXPECT_THAT(*said, testing::ElementsAreArray(differing)) << "round " << round;
  }
}

TEST(CountedRows, SayNothingOfThoseThatTheyWereNotMadeFrom) {
  const Seating seating = seating_of(5, 7);
  const std::vector<MemberStatus> up(5);
  std::vector<MemberStatus> drained = up, disabled = up;
  drained[1].state = BackendState::draining;
  disabled[1].state = BackendState::disabled;
  const auto one = CountedRows::built(seating, up, {});
  const auto again = CountedRows::built(seating, up, {});
  const auto two = CountedRows::made_from(one, seating, up, drained, {});
  const auto three = CountedRows::made_from(two, seating, drained, disabled, {});
  EXPECT_TRUE(CountedRows::differing(one, one)->empty());
  EXPECT_FALSE(CountedRows::differing(one, again).has_value());
  EXPECT_FALSE(CountedRows::differing(one, three).has_value());
  EXPECT_TRUE(CountedRows::differing(two, three).has_value());
}

// Its address may be somebody else's by then.
TEST(CountedRows, OneThatIsGoneIsNobody) {
  const Seating seating = seating_of(5, 7);
  const std::vector<MemberStatus> up(5);
  auto gone = CountedRows::built(seating, up, {});
  const auto made = CountedRows::made_from(gone, seating, up, up, {});
  gone.reset();
  for (int turn = 0; turn < 100; ++turn)
    EXPECT_FALSE(CountedRows::differing(CountedRows::built(seating, up, {}), made).has_value());
}

}  // namespace
}  // namespace guideway
