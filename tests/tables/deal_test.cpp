// The deal of seats at sizes that matter, and what it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "guideway/placement.h"

namespace guideway {
namespace {

std::vector<Member> equal_members(std::size_t count, std::uint32_t weight = 100) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back({fmt::format("backend-{:05}", i), weight});
  return members;
}

Seating deal_from_nothing(std::vector<Member> members, std::uint32_t row_count = rows_default) {
  auto dealt = deal(empty_seating(0x5eed, row_count), {}, std::move(members));
  EXPECT_TRUE(dealt.has_value()) << dealt.error().text();
  return std::move(*dealt);
}

std::vector<std::uint32_t> rows_held(const Seating& seating) {
  std::vector<std::uint32_t> held(seating.members.size());
  for (const MemberIndex holder : seating.holder) ++held[holder];
  return held;
}

TEST(Deal, AThousandBackendsHoldTheirShareToWithinOneRow) {
  for (const auto& [row_count, low] : {std::pair{65537U, 65U}, std::pair{655373U, 655U}}) {
    const Seating seating = deal_from_nothing(equal_members(1000), row_count);
    const auto held = rows_held(seating);
    const auto [least, most] = std::minmax_element(held.begin(), held.end());
    EXPECT_EQ(*least, low) << row_count;
    EXPECT_EQ(*most, low + 1) << row_count;
  }
}

TEST(Deal, WeightsAreMetToWithinOneRow) {
  const struct {
    const char* what;
    std::vector<Member> members;
  } cases[] = {
      {"1 to 4", {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}},
      {"one to a thousand", {{"a", 1}, {"b", 1000}}},
      {"the ends of the range", {{"a", 1}, {"b", 65535}, {"c", 65535}}},
      {"alone", {{"a", 7}}},
  };
  for (const auto& c : cases) {
    std::uint64_t total = 0;
    for (const Member& member : c.members) total += member.weight;
    const auto held = rows_held(deal_from_nothing(c.members));
    for (std::size_t i = 0; i < held.size(); ++i) {
      const std::uint64_t floor = std::uint64_t{rows_default} * c.members[i].weight / total;
      EXPECT_TRUE(held[i] == floor || held[i] == floor + 1)
          << c.what << ": " << held[i] << ", share " << floor;
    }
  }
}

TEST(Deal, MoreBackendsThanRows) {
  const auto held = rows_held(deal_from_nothing(equal_members(1000), 251));
  // Equal remainders: the ties go to the first names.
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i], i < 251 ? 1U : 0U) << i;
}

TEST(Deal, TheSameMembersInAnyOrderAreNoChange) {
  const Seating before = deal_from_nothing(equal_members(20));
  std::vector<Member> members = before.members;
  std::reverse(members.begin(), members.end());
  const std::vector<BackendState> states(20, BackendState::draining);
  for (const DealMode mode : {DealMode::stable, DealMode::scratch}) {
    EXPECT_EQ(deal(before, states, members, mode).value(), before);
  }
}

TEST(Deal, TheLastMemberLeaves) {
  const Seating before = deal_from_nothing(equal_members(1), 251);
  const Seating after = deal(before, std::vector{BackendState::draining}, {}).value();
  EXPECT_EQ(after, empty_seating(0x5eed, 251));
  EXPECT_EQ(deal(after, {}, before.members).value(), before);
}

TEST(Deal, RefusesInOneSentence) {
  const Seating empty = empty_seating(0, rows_default);
  const std::string long_name(64, 'x');
  const struct {
    const char* what;
    Seating before;
    std::vector<Member> members;
    const char* sentence;
  } cases[] = {
      {"a name twice",
       empty,
       {{"a", 1}, {"b", 1}, {"a", 2}},
       "backend a is there twice; give each backend of a pool its own name"},
      {"weight 0", empty, {{"a", 0}}, "backend a has weight 0; drain it, to keep new flows away"},
      {"too heavy",
       empty,
       {{"a", 70000}},
       "backend a has weight 70000, above 65535; use a weight from 1 to 65535"},
      {"no name",
       empty,
       {{"", 1}},
       "\"\" is no name for a backend; use 1 to 63 of the letters, digits and . _ -"},
      {"a blank in it",
       empty,
       {{"a b", 1}},
       "\"a b\" is no name for a backend; use 1 to 63 of the letters, digits and . _ -"},
      {"too many", empty, std::vector<Member>(65536, Member{"a", 1}),
       "a pool of 65536 backends is above 65535; spread them over several pools"},
      {"no prime", empty_seating(0, 65536), {{"a", 1}}, "rows 65536 is no prime; use 65521 or 65537"},
      {"too few",
       empty_seating(0, 241),
       {{"a", 1}},
       "rows 241 is below 251; use a prime from 251 to 5000011; 65537 suits most pools"},
  };
  for (const auto& c : cases) {
    const auto dealt = deal(c.before, {}, c.members);
    ASSERT_FALSE(dealt.has_value()) << c.what;
    EXPECT_EQ(dealt.error().text(), c.sentence) << c.what;
    EXPECT_EQ(dealt.error().kind, ErrorKind::invalid) << c.what;
  }
  EXPECT_FALSE(deal(empty, {}, {{long_name, 1}}).has_value());
  EXPECT_TRUE(deal(empty, {}, {{long_name.substr(1), 65535}}).has_value());
}

TEST(Seating, ADamagedOneIsRefused) {
  const Seating good = deal_from_nothing(equal_members(3), 251);
  ASSERT_TRUE(check_seating(good).has_value());
  const struct {
    const char* what;
    void (*damage)(Seating&);
  } cases[] = {
      {"a seat beyond the members", [](Seating& s) { s.holder[7] = 3; }},
      {"a seat without a holder", [](Seating& s) { s.holder[7] = no_member; }},
      {"a former beyond the members", [](Seating& s) { s.former[7] = 3; }},
      {"a former that is the holder", [](Seating& s) { s.former[7] = s.holder[7]; }},
      {"too few seats", [](Seating& s) { s.holder.pop_back(); }},
      {"too many formers", [](Seating& s) { s.former.push_back(no_member); }},
      {"members out of order", [](Seating& s) { std::swap(s.members[0], s.members[1]); }},
      {"no prime", [](Seating& s) { s.row_count = 252; }},
      {"seats without members", [](Seating& s) { s.members.clear(); }},
  };
  for (const auto& c : cases) {
    Seating damaged = good;
    c.damage(damaged);
    EXPECT_FALSE(check_seating(damaged).has_value()) << c.what;
    if (damaged.members.size() == 3) {
      EXPECT_FALSE(deal(damaged, std::vector<BackendState>(3), {{"a", 1}}).has_value()) << c.what;
    }
  }
  EXPECT_FALSE(deal(good, std::vector<BackendState>(2), {{"a", 1}}).has_value()) << "a state is missing";
}

TEST(Prime, IsPrime) {
  for (const std::uint32_t n : {2U, 3U, 5U, 251U, 65537U, 655373U, 5000011U, 4294967291U})
    EXPECT_TRUE(is_prime(n)) << n;
  for (const std::uint32_t n : {0U, 1U, 4U, 9U, 25U, 249U, 65535U, 65536U, 4294967295U})
    EXPECT_FALSE(is_prime(n)) << n;
}

}  // namespace
}  // namespace guideway
