// Byte ranges against a plain set of bytes.
#include "dataplane/byte_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace guideway {
namespace {

using Added = ByteRanges::Added;

TEST(ByteRanges, Cases) {
  struct Step {
    std::uint16_t begin, end;
    Added expected;
  };
  struct RangeCase {
    const char* description;
    std::vector<Step> steps;
  };
  const RangeCase cases[] = {
      {"in order", {{0, 8, Added::fresh}, {8, 16, Added::fresh}, {16, 20, Added::fresh}}},
      {"in reverse", {{16, 20, Added::fresh}, {8, 16, Added::fresh}, {0, 8, Added::fresh}}},
      {"a gap filled",
       {{0, 8, Added::fresh}, {16, 24, Added::fresh}, {8, 16, Added::fresh}, {0, 24, Added::duplicate}}},
      {"the same again", {{8, 16, Added::fresh}, {8, 16, Added::duplicate}}},
      {"within what is there", {{0, 32, Added::fresh}, {8, 16, Added::duplicate}}},
      {"over the end", {{0, 16, Added::fresh}, {8, 24, Added::overlap}}},
      {"over the beginning", {{8, 16, Added::fresh}, {0, 9, Added::overlap}}},
      {"around it", {{8, 16, Added::fresh}, {0, 24, Added::overlap}}},
      {"around two", {{8, 16, Added::fresh}, {24, 32, Added::fresh}, {16, 40, Added::overlap}}},
      {"joins the left one and goes into the right one",
       {{0, 8, Added::fresh}, {16, 24, Added::fresh}, {8, 17, Added::overlap}}},
  };
  for (const RangeCase& c : cases) {
    ByteRanges ranges;
    for (const Step& step : c.steps)
      EXPECT_EQ(ranges.add(step.begin, step.end), step.expected) << c.description << " at " << step.begin;
  }
}

TEST(ByteRanges, ManyGapsAreRefusedNotForgotten) {
  ByteRanges ranges;
  for (std::uint16_t i = 0; i < ByteRanges::count_max; ++i)
    ASSERT_EQ(ranges.add(static_cast<std::uint16_t>(i * 16), static_cast<std::uint16_t>(i * 16 + 8)),
              Added::fresh);
  EXPECT_EQ(ranges.add(1000, 1008), Added::full);
  EXPECT_EQ(ranges.add(0, 8), Added::duplicate);
  EXPECT_EQ(ranges.add(8, 16), Added::fresh);
  EXPECT_EQ(ranges.add(1000, 1008), Added::fresh);
}

TEST(ByteRanges, AgreeWithASetOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    ByteRanges ranges;
    std::set<int> there;
    for (int n = 0; n < 12; ++n) {
      const int begin = static_cast<int>(random() % 20), end = begin + 1 + static_cast<int>(random() % 6);
      int known = 0;
      for (int b = begin; b < end; ++b) known += there.contains(b) ? 1 : 0;
      const Added expected = known == 0             ? Added::fresh
                             : known == end - begin ? Added::duplicate
                                                    : Added::overlap;
      ASSERT_EQ(ranges.add(static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end)), expected);
      if (expected != Added::fresh) continue;
      for (int b = begin; b < end; ++b) there.insert(b);
      ASSERT_EQ(ranges.end(), *there.rbegin() + 1);
      ASSERT_EQ(ranges.is_exactly(static_cast<std::uint16_t>(there.size())),
                *there.begin() == 0 && *there.rbegin() + 1 == static_cast<int>(there.size()));
    }
  }
}

}  // namespace
}  // namespace guideway
