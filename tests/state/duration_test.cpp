// Durations: as documents write them, and as a person reads them.
#include "state/duration.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

using namespace std::chrono_literals;

TEST(Duration, SettingsAreReadAndPrintedExactly) {
  for (const char* text : {"500ms", "2s", "15m", "1h", "1500ms", "90s"}) {
    const auto span = parse_duration(text);
    ASSERT_TRUE(span) << text;
    EXPECT_EQ(print_duration(*span), text);
  }
  for (const char* text : {"", "5", "5 s", "-1s", "1d", "1.5s", "99999999h"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Duration, HowLongSomethingHasBeenSoTakesTwoUnits) {
  const std::pair<std::chrono::milliseconds, const char*> cases[] = {
      {0ms, "0s"},         {999ms, "0s"},      {59s, "59s"},      {60s, "1m 0s"},
      {178s, "2m 58s"},    {3599s, "59m 59s"}, {3600s, "1h 0m"},  {7260s, "2h 1m"},
      {86399s, "23h 59m"}, {86400s, "1d 0h"},  {300h, "12d 12h"}, {24000h, "1000d 0h"},
  };
  for (const auto& [span, text] : cases) EXPECT_EQ(rough_duration(span), text);
}

}  // namespace
}  // namespace guideway
