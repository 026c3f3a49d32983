// tables/README.md: the figures that it prints are those that the commands beside them give. A part of them in a second;
// all of them, some minutes, with GUIDEWAY_LONG_TESTS set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tables/simulation/movement.h"
#include "tables/simulation/simulation.h"

namespace guideway {
namespace {

using Cells = std::vector<std::string>;
using Lines = std::map<std::string, std::map<std::string, Cells>>;  // [label][column]

bool whole() { return std::getenv("GUIDEWAY_LONG_TESTS") != nullptr; }

Cells split(const std::string& text, const std::string& separator) {
  Cells out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    std::string cell = text.substr(at, end - at);
    std::erase_if(cell, [](char c) { return c == '`' || c == ','; });
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    out.push_back(std::move(cell));
    at = end + separator.size();
  }
  return out;
}

// The table whose first column has this title; its cells parted at slashes.
Lines table_of(const std::string& title) {
  std::ifstream file(GUIDEWAY_TABLES "/README.md");
  Lines out;
  Cells head;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ")) {
      if (!line.starts_with("|--")) head.clear();
      continue;
    }
    const Cells cells = split(line.substr(1, line.size() - 2), "|");
    if (head.empty()) {
      head = cells;
    } else if (head[0] == title) {
      for (std::size_t i = 1; i < cells.size(); ++i) out[cells[0]][head.at(i)] = split(cells[i], "/");
    }
  }
  return out;
}

constexpr std::array<std::size_t, 3> sizes{10, 100, 468};

// As printed: rounded, and "<0.1" for what is less.
void expect_figure(const std::string& printed, double figure, const std::string& what) {
  if (printed.starts_with("<")) {
    EXPECT_LT(figure, std::stod(printed.substr(1))) << what;
    EXPECT_GT(figure, 0) << what;
  } else {
    const std::size_t point = std::min(printed.find('.'), printed.size() - 1);
    const double last_digit = std::pow(10, -static_cast<double>(printed.size() - 1 - point));
    EXPECT_NEAR(std::stod(printed), figure, 0.51 * last_digit + 1e-4 * figure) << what;
  }
}

void expect_losses(const std::string& title, std::size_t size, std::size_t cell, const FlowSetting& setting,
                   std::vector<std::string_view> scenario_names, std::vector<std::string_view> rules) {
  const Lines lines = table_of(title);
  ASSERT_FALSE(lines.empty()) << title;
  for (const std::string_view scenario : scenario_names) {
    const auto all =
        simulate(*find_scenario(scenario).value(), {.backends = size, .settings = {setting}, .rules = rules});
    for (const SimulatedRule& one : all.value()) {
      const std::string label = fmt::format("{} {}", one.rule, one.hops);
      ASSERT_TRUE(lines.contains(label)) << label;
      expect_figure(lines.at(label).at(std::string(scenario)).at(cell), one.lost_per_million[0],
                    fmt::format("{}, {} backends, {}", label, size, scenario));
    }
  }
}

std::vector<std::string_view> all_scenario_names() {
  std::vector<std::string_view> out;
  for (const Scenario& scenario : scenarios()) out.push_back(scenario.name);
  return out;
}

TEST(Readme, BrokenFlows) {
  const std::string title = "rule and hops";
  if (!whole()) return expect_losses(title, 10, 0, {false, 1}, {"churn", "rolling"}, {"rebuild", "stable"});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    expect_losses(title, sizes[i], i, {false, 1}, all_scenario_names(), {});
  }
}

TEST(Readme, BrokenFlowsOfTwoDirectors) {
  const std::string title = "two directors: rule and hops";
  if (!whole()) return expect_losses(title, 100, 1, {true, 2}, {"churn"}, {"rebuild"});
  expect_losses(title, 100, 0, {false, 2}, all_scenario_names(), {});
  expect_losses(title, 100, 1, {true, 2}, all_scenario_names(), {});
}

TEST(Readme, LossesOfLargerTables) {
  if (!whole()) GTEST_SKIP() << "with GUIDEWAY_LONG_TESTS only";
  const Lines lines = table_of("percent lost in churn");
  ASSERT_EQ(lines.size(), 2U);
  const Scenario& churn = *find_scenario("churn").value();
  for (const std::uint32_t rows : {65537U, 131071U, 262147U, 655373U}) {
    for (const auto& [cell, size] : {std::pair<std::size_t, std::size_t>{0, 100}, {1, 468}}) {
      const auto all = simulate(
          churn, {.backends = size, .rows = rows, .settings = {{false, 1}}, .rules = {"rebuild", "stable"}});
      for (const SimulatedRule& one : all.value()) {
        if (one.hops != 2) continue;
        expect_figure(lines.at(std::string(one.rule)).at(fmt::format("M={}", rows)).at(cell),
                      one.lost_per_million[0] / 1e4,
                      fmt::format("{}, {} backends, {} rows", one.rule, size, rows));
      }
    }
  }
}

TEST(Readme, NeedlessMoves) {
  if (!whole()) GTEST_SKIP() << "with GUIDEWAY_LONG_TESTS only";
  const Lines lines = table_of("change");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::vector<MovedByRule> all = measure_movement({.backends = sizes[i]}).value();
    for (const MovedByRule& rule : all) {
      const std::string column(rule.rule), what = fmt::format("{}, {} backends", column, sizes[i]);
      for (std::size_t kind = 0; kind < fleet_change_names.size(); ++kind) {
        if (rule.by[kind].times == 0) continue;
        std::string label(fleet_change_names[kind]);
        std::erase(label, ',');
        expect_figure(lines.at(label).at(column).at(i), 100 * rule.by[kind].needless, what + label);
      }
      expect_figure(lines.at("in the end: rows off at most").at(column).at(i), rule.rows_off, what);
      expect_figure(lines.at("in the end: fullest over its due").at(column).at(i), rule.peak, what);
    }
  }
}

}  // namespace
}  // namespace guideway
