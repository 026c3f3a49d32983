// Lessons: each published figure by name.
#include "guideway/lesson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace guideway {
namespace {

struct KnownNumber {
  const char* lesson;
  const char* figure;
  double value, tolerance;
};

constexpr KnownNumber known_numbers[] = {
    {"ring-of-ten", "the place of node-0#0", 480638856, 0},
    {"ring-of-ten", "the place of node-4#0", 3419100325, 0},
    {"ring-of-ten", "the place of node-7#0", 1010880395, 0},
    {"ring-of-ten", "the place of key-0", 2105490679, 0},
    {"ring-of-ten", "the place of key-1", 3769303974, 0},
    {"ring-of-ten", "peak over mean, points a node: 1", 3.68, 0.005},
    {"ring-of-ten", "peak over mean, points a node: 4", 1.43, 0.005},
    {"ring-of-ten", "peak over mean, points a node: 16", 1.54, 0.005},
    {"ring-of-ten", "peak over mean, points a node: 64", 1.12, 0.005},
    {"ring-of-ten", "peak over mean, points a node: 128", 1.08, 0.005},
    {"ring-of-ten", "standard deviation, points a node: 1", 104, 0.5},
    {"ring-of-ten", "standard deviation, points a node: 4", 28, 0.5},
    {"ring-of-ten", "standard deviation, points a node: 64", 11, 0.5},
    {"ring-of-ten", "standard deviation, points a node: 128", 5, 0.5},
    {"ring-of-ten", "heirs of node-0, points a node: 1", 1, 0},
    {"ring-of-ten", "share of the busiest heir, points a node: 1", 1.00, 0.005},
    {"ring-of-ten", "heirs of node-0, points a node: 64", 9, 0},
    {"ring-of-ten", "share of the busiest heir, points a node: 64", 0.18, 0.005},
    {"ring-of-ten", "keys that node-10 moves, points a node: 16", 8.905, 0.0005},
    {"ring-of-ten", "keys that node-10 moves, points a node: 64", 9.521, 0.0005},
    {"ring-of-ten", "keys that node-10 moves, points a node: 128", 9.429, 0.0005},
    {"ring-of-ten", "keys that an eleventh node moves by modulo", 91, 0.5},
    {"thousand-positions", "the place of cache-south", 306, 0},
    {"thousand-positions", "the place of cache-remote", 473, 0},
    {"thousand-positions", "the place of cache-central", 690, 0},
    {"thousand-positions", "the place of cache-north", 818, 0},
    {"thousand-positions", "what cache-south owns among the first three", 61.6, 0.05},
    {"thousand-positions", "where a name lies whose place and the next are taken", 248, 0},
    {"random-rings", "keys that an added node moves", 19.9, 0.5},
    {"random-rings", "and by modulo", 79.5, 0.5},
    {"random-rings", "keys that a removed node moves", 26.5, 0.5},
    {"random-rings", "and by modulo, one fewer", 73.4, 0.5},
    {"binary-search", "entries of 50 servers with 160 points each", 8000, 0},
    {"binary-search", "probes a look-up", 13, 0.5},
};

struct KnownWord {
  const char* lesson;
  const char* figure;
  const char* word;
};

constexpr KnownWord known_words[] = {
    {"hundred-positions", "the owner of key 27, with A at 10, B at 35, C at 62, D at 84", "B"},
    {"hundred-positions", "the owner of key 70", "D"},
    {"hundred-positions", "the owner of key 93, behind the last node", "A"},
    {"hundred-positions", "the owner of key 62, where C is", "C"},
    {"hundred-positions", "what moves when E comes at 50", "36 to 50, to E"},
    {"hundred-positions", "what moves when C goes", "36 to 62, to D"},
    {"thousand-positions", "where cache-a to cache-h lie", "246 to 253"},
    {"binary-search", "and it finds what the ring finds", "yes"},
};

// Each lesson is run once.
const std::vector<Figure>& figures_of(const std::string& lesson) {
  static std::map<std::string, std::vector<Figure>> known;
  const auto found = known.find(lesson);
  return found != known.end() ? found->second : known[lesson] = find_lesson(lesson).value()->run();
}

const Figure* figure_of(const std::string& lesson, const std::string& name) {
  const auto& figures = figures_of(lesson);
  const auto found =
      std::find_if(figures.begin(), figures.end(), [&](const Figure& figure) { return figure.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

template <class Known>
std::string test_name(const testing::TestParamInfo<Known>& tested) {
  std::string name = fmt::format("{}_{}", tested.param.lesson, tested.param.figure);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class LessonNumber : public testing::TestWithParam<KnownNumber> {};
class LessonWord : public testing::TestWithParam<KnownWord> {};

TEST_P(LessonNumber, IsAsPublished) {
  const Figure* figure = figure_of(GetParam().lesson, GetParam().figure);
  ASSERT_NE(figure, nullptr);
  EXPECT_NEAR(figure->value, GetParam().value, GetParam().tolerance);
  EXPECT_TRUE(figure->agrees);
}

TEST_P(LessonWord, IsAsPublished) {
  const Figure* figure = figure_of(GetParam().lesson, GetParam().figure);
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->measured, GetParam().word);
  EXPECT_TRUE(figure->agrees);
}

INSTANTIATE_TEST_SUITE_P(Published, LessonNumber, testing::ValuesIn(known_numbers), test_name<KnownNumber>);
INSTANTIATE_TEST_SUITE_P(Published, LessonWord, testing::ValuesIn(known_words), test_name<KnownWord>);

TEST(Lessons, EveryPublishedFigureOfEachIsCheckedAboveAndSaysTheSameTwice) {
  std::set<std::string> checked;
  for (const KnownNumber& known : known_numbers)
    checked.insert(fmt::format("{}/{}", known.lesson, known.figure));
  for (const KnownWord& known : known_words) checked.insert(fmt::format("{}/{}", known.lesson, known.figure));
  for (const Lesson* lesson : lessons()) {
    EXPECT_FALSE(lesson->teaches.empty());
    const auto again = lesson->run();
    ASSERT_EQ(again.size(), figures_of(std::string(lesson->name)).size());
    for (std::size_t i = 0; i < again.size(); ++i) {
      EXPECT_EQ(again[i].measured, figures_of(std::string(lesson->name))[i].measured);
      if (again[i].published.empty()) continue;
      EXPECT_TRUE(checked.count(fmt::format("{}/{}", lesson->name, again[i].name))) << again[i].name;
    }
  }
}

// 9.5 % is about 9; rounded to 10 it would look wrong beside it.
TEST(Lessons, WhatIsPublishedInWordsIsPrintedSo) {
  const Figure* figure = figure_of("ring-of-ten", "keys that node-10 moves, points a node: 64");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->measured, "9.5 %");
  EXPECT_EQ(figure->published, "about 9 %");
}

TEST(Lessons, AnUnknownOneIsToldTheOthers) {
  const auto unknown = find_lesson("hard-knocks");
  ASSERT_FALSE(unknown.has_value());
  for (const Lesson* lesson : lessons()) {
    EXPECT_NE(unknown.error().next.find(lesson->name), std::string::npos);
  }
}

}  // namespace
}  // namespace guideway
