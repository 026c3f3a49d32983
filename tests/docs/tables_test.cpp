// docs/api.md against the tables inside the program: every command, resource, verdict and kind of error, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "command/run.h"
#include "command/table.h"
#include "snapshot/verdict.h"

namespace guideway {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// The bodies of the Markdown tables whose first column has this title.
Rows rows_of(const std::string& title) {
  std::ifstream file(GUIDEWAY_DOCS "/api.md");
  Rows out;
  bool wanted = false, in_table = false;
  for (std::string line; std::getline(file, line);) {
    const bool is_row = line.starts_with("|");
    if (is_row && !in_table) wanted = line.starts_with("| " + title + " |");
    if (is_row && in_table && wanted && !line.starts_with("|--")) {
      std::vector<std::string> cells;
      for (std::size_t at = 1; at < line.size();) {
        const std::size_t end = std::min(line.find('|', at), line.size());
        std::string cell = line.substr(at, end - at);
        std::erase(cell, '`');
        cell.erase(0, cell.find_first_not_of(' '));
        cell.erase(cell.find_last_not_of(' ') + 1);
        cells.push_back(std::move(cell));
        at = end + 1;
      }
      out.push_back(std::move(cells));
    }
    in_table = is_row;
  }
  return out;
}

std::vector<std::string> column(const Rows& rows, std::size_t index) {
  std::vector<std::string> out;
  for (const auto& row : rows)
    if (!row.at(index).empty()) out.push_back(row.at(index));
  return out;
}

TEST(ApiDocument, HasEveryCommandWithItsResource) {
  std::vector<std::string> names, resources;
  for (const Command& command : commands()) {
    std::string name = command.name();
    for (const Parameter& parameter : command.positionals)
      name +=
          parameter.optional ? " [" + std::string(parameter.name) + "]" : " " + std::string(parameter.name);
    names.push_back(std::move(name));
    if (!command.resource.empty()) resources.emplace_back(command.resource);
  }
  EXPECT_THAT(column(rows_of("command"), 0), testing::UnorderedElementsAreArray(names));
  EXPECT_THAT(column(rows_of("command"), 1), testing::UnorderedElementsAreArray(resources));
}

TEST(ApiDocument, HasEveryResource) {
  std::set<std::string> wanted{"GET /v1/", "GET /v1/version", "PUT /v1/site", "POST /v1/commands"};
  for (const Command& command : commands())
    if (!command.resource.empty()) wanted.insert("GET /v1/" + std::string(command.resource));
  EXPECT_THAT(column(rows_of("method and path"), 0), testing::UnorderedElementsAreArray(wanted));
}

TEST(ApiDocument, HasEveryVerdictAndDropReasonWithAdvice) {
  std::vector<std::string> verdicts, drops;
  for (std::size_t i = 0; i < verdict_count; ++i)
    (is_drop(static_cast<Verdict>(i)) ? drops : verdicts).emplace_back(verdict_names[i]);
  EXPECT_EQ(column(rows_of("verdict"), 0), verdicts);
  EXPECT_EQ(column(rows_of("drop reason"), 0), drops);
  for (const auto& row : rows_of("drop reason")) EXPECT_GT(row.at(2).size(), 1U) << row.at(0);
}

TEST(ApiDocument, HasEveryKindOfError) {
  std::vector<std::string> kinds;
  for (const ErrorKind kind :
       {ErrorKind::refused, ErrorKind::invalid, ErrorKind::usage, ErrorKind::not_found, ErrorKind::stale,
        ErrorKind::no_daemon, ErrorKind::timeout, ErrorKind::in_doubt, ErrorKind::internal})
    kinds.push_back(error_json({kind, "what", "where", "next"}).at("kind").get<std::string>());
  EXPECT_THAT(column(rows_of("kind"), 0), testing::UnorderedElementsAreArray(kinds));
}

}  // namespace
}  // namespace guideway
