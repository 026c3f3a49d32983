#include "replay/options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

  const std::vector<std::vector<const char*>> refused = {
      {},
      {"--site", "s"},
      {"--in", "i"},
      {"--site", "s", "--in"},
      {"--site", "s", "--in", "i", "--bogus"},
      {"--site", "s", "--in", "i", "stray"},
      {"--site", "s", "--in", "i", "--at", "x"},
      {"--site", "s", "--in", "i", "--json", "--report", "r"}};
  for (const auto& words : refused) {
    const auto answer = parse(words);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, ErrorKind::usage);
  }
}

TEST(Options, JsonIsTheReportOnTheStandardOutput) {
  const auto options = parse({"--site", "s", "--in", "i", "--json"});
  ASSERT_TRUE(options.has_value() && options->has_value()) << options.error().text();
  EXPECT_EQ((*options)->report, "-");
}

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    for (const char* name : {"site", "in", "director", "old"}) std::ofstream(path(name)) << name;
    std::filesystem::create_symlink(path("in"), path("link"));
    std::filesystem::create_hard_link(path("in"), path("twin"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("guideway-files-" + std::to_string(getpid()));
};

TEST_F(Files, WhatIsWrittenIsNothingThatIsRead) {
  struct Case {
    const char* description;
    std::string out, report;
    const char* refused;  // nullptr: good
  };
  const Case cases[] = {
      {"nothing is written", "", "", nullptr},
      {"two new files", path("out"), path("report"), nullptr},
      {"an old file may be replaced", path("old"), "-", nullptr},
      {"what is no file takes everything", "/dev/null", "/dev/null", nullptr},
      {"the capture itself", path("in"), "", "--out"},
      {"the capture by another path", path("../") + "guideway-files-" + std::to_string(getpid()) + "/in", "",
       "--out"},
      {"the capture by a symbolic link", path("link"), "", "--out"},
      {"the capture by a hard link", "", path("twin"), "--report"},
      {"the site", path("site"), "", "--out"},
      {"the director's file", "", path("director"), "--report"},
      {"both to one new file", path("out"), path("out"), "--report"},
      {"both to one old file", path("old"), path("old"), "--report"},
  };
  for (const Case& given : cases) {
    ReplayOptions options;
    options.site = path("site");
    options.in = path("in");
    options.director = path("director");
    options.out = given.out;
    options.report = given.report;
    const auto apart = check_files(options);
    EXPECT_EQ(apart.has_value(), given.refused == nullptr) << given.description;
    if (apart || given.refused == nullptr) continue;
    EXPECT_EQ(apart.error().kind, ErrorKind::usage) << given.description;
    EXPECT_TRUE(apart.error().what.starts_with(given.refused))
        << given.description << ": " << apart.error().what;
  }
}

}  // namespace
}  // namespace guideway
