#include "state/seating_file.h"

#include <gtest/gtest.h>

#include "journals.h"
#include "state/sealed_text.h"

namespace guideway {
namespace {

TEST(SeatingFile, GivesBackWhatWasWritten) {
  const Seating seating = *first_version().seatings.at("web");
  const auto parsed = parse_seating(seating_bytes(seating));
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(*parsed, seating);
}

// Whoever can write the file can also write its hash, so the parser trusts nothing.
TEST(SeatingFile, EveryTruncationAndHugeCountIsRefused) {
  const std::string bytes = seating_bytes(*first_version().seatings.at("web"));
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(parse_seating(bytes.substr(0, size)));
  for (const std::size_t at : {16U, 17U, 18U, 19U, 20U, 21U, 22U, 23U, 28U}) {
    std::string huge = bytes;
    huge[at] = '\xff';
    EXPECT_FALSE(parse_seating(huge)) << at;
  }
}

}  // namespace
}  // namespace guideway
