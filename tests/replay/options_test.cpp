#include "replay/options.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

TEST(Options, AtIsANumberAndACommand) {
  const auto good = parse_at("200:backend add web b4 10.0.0.4");
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->packet, 200U);
  EXPECT_EQ(good->line, "backend add web b4 10.0.0.4");
  for (const char* bad : {"", ":", "5", "5:", ":x", "x:y", "-1:x", "5 :x", "99999999999999999999:x"}) {
    const auto at = parse_at(bad);
    ASSERT_FALSE(at.has_value()) << bad;
    EXPECT_EQ(at.error().kind, ErrorKind::usage);
  }
}

Result<std::optional<ReplayOptions>> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "guideway-replay");
  return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, CommandLine) {
  const auto all = parse({"--site", "s", "--director", "d", "--at", "1:a b", "--at", "2:c", "--in", "i",
                          "--out", "o", "--report", "-"});
  ASSERT_TRUE(all.has_value() && all->has_value()) << all.error().text();
  EXPECT_EQ((*all)->site, "s");
  EXPECT_EQ((*all)->report, "-");
  ASSERT_EQ((*all)->at.size(), 2U);
  EXPECT_EQ((*all)->at[0].line, "a b");
  EXPECT_EQ((*all)->at[1].packet, 2U);

  const std::vector<std::vector<const char*>> refused = {{},
                                                         {"--site", "s"},
                                                         {"--in", "i"},
                                                         {"--site", "s", "--in"},
                                                         {"--site", "s", "--in", "i", "--bogus"},
                                                         {"--site", "s", "--in", "i", "stray"},
                                                         {"--site", "s", "--in", "i", "--at", "x"}};
  for (const auto& words : refused) {
    const auto answer = parse(words);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace guideway
