// The verbs that need neither daemon nor site: table compare, table vectors, simulate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/comparison_plot.h"
#include "command/offline.h"
#include "command/svg_file.h"
#include "fake_director.h"
#include "guideway/lesson.h"
#include "tables/simulation/fleet.h"
#include "tables/simulation/movement.h"

namespace guideway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class PlacementVerbs : public testing::Test {
 protected:
  Result<json> ask(const std::string& line) {
    auto arguments = parse_command(*split_words(line));
    if (!arguments) return tl::unexpected(arguments.error());
    return run_command(*context_, *arguments);
  }
  std::string place(const std::string& name) { return (home_ / name).string(); }
  static std::string text_in(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  void SetUp() override { std::filesystem::create_directory(home_); }
  void TearDown() override { std::filesystem::remove_all(home_); }

 private:
  std::filesystem::path home_ = testing::TempDir() + "guideway-placement-" + std::to_string(getpid());
  std::unique_ptr<OfflineContext> context_ = OfflineContext::without_site("").value();
};

TEST_F(PlacementVerbs, CompareReadsAsATable) {
  const std::string line = "table compare --backends 4 --keys 2000 --rows 251 --change remove:b2";
  const auto answer = ask(line);
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ((*answer)["algorithms"].size(), algorithms().size());
  EXPECT_EQ((*answer)["due"], 0.25);
  const std::string text = text_of(line, *answer);
  EXPECT_THAT(
      text,
      HasSubstr("4 backends of equal weight, 2,000 keys; then b2 goes: 25.00 % of the keys have to move\n"));
  for (const Algorithm* algorithm : algorithms())
    EXPECT_THAT(text, HasSubstr("\n" + std::string(algorithm->name) + " "));
  EXPECT_THAT(text, HasSubstr("jump: jump can only lose the backend that came last, b4, not b2; "));
  EXPECT_THAT(text, HasSubstr("HEIRS"));
  std::size_t width = 0;  // of the table's lines: all end in the same column
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    if (!one.starts_with("ALGORITHM") && !one.starts_with("modulo") && !one.starts_with("guideway")) continue;
    EXPECT_TRUE(width == 0 || width == one.size()) << one;
    width = one.size();
  }
}

TEST_F(PlacementVerbs, CompareByChoice) {
  const auto answer =
      ask("table compare --weights 100,300 --backends 5 --keys 500 --rows 251 --change add:new=200 "
          "--algorithm maglev,guideway,slots");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ((*answer)["backends"][3], (json{{"name", "b4"}, {"weight", 300}}));
  EXPECT_EQ((*answer)["algorithms"][1]["algorithm"], "guideway");
  EXPECT_TRUE((*answer)["algorithms"][2].contains("refusal"));
  const std::string text = text_of("table compare", *answer);
  EXPECT_THAT(text, HasSubstr("of their own weights"));
  EXPECT_THAT(text, HasSubstr("new comes with weight 200"));
  EXPECT_THAT(text, HasSubstr("GIVERS"));
}

TEST_F(PlacementVerbs, CompareTellsWhoGetsNoRow) {
  const auto answer = ask("table compare --backends 260 --keys 10 --rows 251 --algorithm maglev");
  ASSERT_TRUE(answer);
  EXPECT_THAT(text_of("table compare", *answer), HasSubstr("maglev: 9 backends without a row: "));
}

TEST_F(PlacementVerbs, WhatCannotBeCompared) {
  struct Case {
    const char* line;
    const char* says;
  };
  const Case cases[] = {
      {"table compare --backends 0", "--backends: 0 is out of range; use 1 to 65534"},
      {"table compare --backends 65535", "--backends: 65535 is out of range"},
      {"table compare --backends 4294967297", "--backends: 4294967297 is out of range"},
      {"table compare --rows 65536", "--rows: rows 65536 is no prime; use 65521 or 65537"},
      {"table compare --rows 250", "--rows: rows 250 is below 251"},
      {"table compare --rows 5000013", "--rows: rows 5000013 is above 5000011"},
      {"table compare --weights 100,0", "--weights: \"0\" is no weight; use a whole number from 1 to 65535"},
      {"table compare --weights 65536", "--weights: \"65536\" is no weight"},
      {"table compare --change add:b01", "there is a backend \"b01\" already"},
      {"table compare --weights 1,x", "--weights: \"x\" is no weight"},
      {"table compare --change drain:b01", "--change: \"drain:b01\" is no change"},
      {"table compare --change remove:web", "there is no backend \"web\"; they are b01 to b10"},
      {"table compare --backends 1 --change remove:b01", "there is no backend \"b01\"; there is b1 alone"},
      {"table compare --algorithm maglef", "--algorithm: \"maglef\" is no placement algorithm"},
      {"table compare --keys 0", "--keys: 0 is out of range; use 1 to 10000000"},
      {"table compare --keys 4294967296", "--keys: 4294967296 is out of range"},
      {"table compare --backends 60000 --keys 10000000", "take too long"},
      {"table compare --lesson none", "--lesson: \"none\" is no lesson"},
      {"table compare --lesson list --keys 3", "no use for --keys"},
      {"table vectors rowz", "rowz"},
      {"table movement --backends 3", "--backends: 3 is out of range; use 4 to 1000"},
      {"table movement --weights 1,2,3", "--weights: 3 backends cannot be simulated; use 4 to 1000"},
      {"table movement --changes 0", "--changes: 0 is out of range; use 1 to 100000"},
      {"table movement --rows 65536", "--rows: rows 65536 is no prime"},
      {"simulate --backends 3", "--backends: 3 is out of range; use 4 to 1000"},
      {"simulate --rows 65536", "--rows: rows 65536 is no prime"},
      {"simulate --steps 0", "--steps: 0 is out of range; use 1 to 1000"},
      {"simulate --scenario storm", "storm"},
      {"simulate --rule stable,best",
       "--rule: \"best\" is no rule; there are rebuild, glb, scratch, stable, two-formers"},
  };
  for (const Case& one : cases) {
    const auto refused = ask(one.line);
    ASSERT_FALSE(refused) << one.line;
    EXPECT_THAT(refused.error().text(), HasSubstr(one.says)) << one.line;
    EXPECT_FALSE(refused.error().next.empty()) << one.line;
    if (std::string_view(one.says).starts_with("--")) {
      EXPECT_EQ(refused.error().kind, ErrorKind::usage) << one.line;
    }
  }
}

TEST_F(PlacementVerbs, EveryLessonIsTold) {
  const auto all = ask("table compare --lesson list");
  ASSERT_TRUE(all);
  for (const Lesson* lesson : lessons()) {
    EXPECT_THAT(text_of("table compare", *all), HasSubstr(std::string(lesson->name)));
  }
  const std::string name(lessons().front()->name);
  const auto one = ask("table compare --lesson " + name);
  ASSERT_TRUE(one) << one.error().text();
  const std::string text = text_of("table compare", *one);
  EXPECT_THAT(text, HasSubstr(name + ": " + std::string(lessons().front()->teaches)));
  for (const json& figure : (*one)["figures"]) {
    EXPECT_THAT(text, HasSubstr(figure["name"].get<std::string>()));
    EXPECT_TRUE(figure["agrees"]) << figure;
  }
}

TEST_F(PlacementVerbs, ThePlotIsDrawnAndDrawnAgain) {
  const std::string line = "table compare --backends 4 --keys 500 --rows 251 --plot " + place("plot.svg");
  ASSERT_TRUE(ask(line + " --change add"));
  const std::string first = text_in(place("plot.svg"));
  EXPECT_TRUE(first.starts_with(std::string(svg_mark) + "<svg "));
  EXPECT_TRUE(first.ends_with("</svg>\n"));
  for (const Algorithm* algorithm : algorithms())
    EXPECT_THAT(first, HasSubstr(">" + std::string(algorithm->name) + "<"));
  EXPECT_THAT(first, HasSubstr("keys of a backend, over what its weight is due"));
  const auto second = ask(line + " --algorithm guideway");
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_LT(text_in(place("plot.svg")).size(), first.size()) << "nothing of the older one is left";
  EXPECT_TRUE(text_in(place("plot.svg")).ends_with("</svg>\n"));
  EXPECT_THAT(text_of("table compare", *second), HasSubstr("plot: " + place("plot.svg")));
}

TEST_F(PlacementVerbs, WhatIsNoPlotOfOursStaysWhatItIs) {
  std::ofstream(place("notes")) << "notes";
  std::ofstream(place("empty"));
  std::filesystem::create_symlink(place("notes"), place("link"));
  std::filesystem::create_directory(place("folder"));
  ASSERT_EQ(mkfifo(place("pipe").c_str(), 0600), 0);
  for (const char* name : {"notes", "empty", "link", "folder", "pipe", "no/where.svg"}) {
    const auto refused = ask("table compare --backends 2 --keys 10 --algorithm modulo --plot " + place(name));
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().text(), HasSubstr(place(name)));
  }
  // Told before the work, not after it.
  EXPECT_FALSE(check_svg_place(place("no/where.svg")));
  EXPECT_FALSE(check_svg_place(""));
  EXPECT_TRUE(check_svg_place(place("new.svg")));
  EXPECT_EQ(text_in(place("notes")), "notes");
  EXPECT_EQ(text_in(place("empty")), "");
}

TEST_F(PlacementVerbs, VectorsAreJsonWhateverIsAsked) {
  const auto one = ask("table vectors flow");
  ASSERT_TRUE(one) << one.error().text();
  const json file = json::parse(text_of("table vectors flow", *one));
  EXPECT_EQ(file, (*one)["files"][0]);
  EXPECT_FALSE(file["cases"][0]["expect"]["flow_hash"].empty());
  const auto all = ask("table vectors");
  ASSERT_TRUE(all);
  EXPECT_EQ(json::parse(text_of("table vectors", *all)), (*all)["files"]);
  EXPECT_EQ((*all)["files"].size(), 5U);
}

TEST_F(PlacementVerbs, SimulateReadsAsTables) {
  const std::string line = "simulate --backends 6 --rows 251 --steps 5 --seed 3";
  const auto answer = ask(line);
  ASSERT_TRUE(answer) << answer.error().text();
  ASSERT_EQ((*answer)["scenarios"].size(), scenarios().size());
  EXPECT_EQ((*answer)["scenarios"][0]["rules"].size(), 10U);
  const std::string text = text_of(line, *answer);
  EXPECT_THAT(text, HasSubstr("6 backends, 251 rows, 5 changes each"));
  for (const Scenario& scenario : scenarios()) {
    const auto single = ask(line + " --scenario " + std::string(scenario.name));  // help names them all
    ASSERT_TRUE(single) << single.error().text();
    EXPECT_THAT(text, HasSubstr(std::string(scenario.name) + ": " + std::string(scenario.tells)));
  }
}

TEST_F(PlacementVerbs, SimulateByChoice) {
  const auto answer =
      ask("simulate --backends 6 --rows 251 --steps 5 --scenario churn --rule two-formers,stable");
  ASSERT_TRUE(answer) << answer.error().text();
  const json& rules = (*answer)["scenarios"][0]["rules"];
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_EQ(rules[0]["rule"], "stable");
  EXPECT_EQ(rules[3]["rule"], "two-formers");
}

TEST_F(PlacementVerbs, MovementReadsAsTwoTables) {
  const std::string line = "table movement --backends 8 --rows 251 --changes 1000";
  const auto answer = ask(line);
  ASSERT_TRUE(answer) << answer.error().text();
  const std::string text = text_of(line, *answer);
  EXPECT_THAT(text, HasSubstr("8 backends, 251 rows, 1,000 changes at random"));
  for (const std::string_view change : fleet_change_names) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(change) + " "));
  }
  EXPECT_THAT(text, HasSubstr("no weights"));
  for (const json& rule : (*answer)["rules"]) {
    EXPECT_EQ(rule["changes"].contains("weight"), rule["rule"] != "glb");
    EXPECT_LT(rule["rows_off"], rule["rule"] == "glb" ? 251 : 1) << rule["rule"];
  }
}

TEST(PlacementVerbsOfADirector, AreRefusedInASentence) {
  FakeDirector director;
  for (const std::string line : {"table compare", "table vectors", "table movement", "simulate"}) {
    const auto refused = director(line);
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_THAT(refused.error().text(), HasSubstr("needs no daemon"));
  }
}

}  // namespace
}  // namespace guideway
