// Arguments: one command as it was typed, checked word by word against the table of commands.
// What: the command, its values by parameter name, and the options that every change has.
// Not:  whether the named objects exist; the handlers look at the site.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "snapshot/ids.h"

namespace guideway {

struct Command;

struct Arguments {
  const Command* command = nullptr;
  // By the parameter's name ("POOL", "weight"). A flag that was given has an empty value.
  std::map<std::string, std::string, std::less<>> values;
  std::string input;                  // the text of the FILE that is named; whoever was asked has read it
  bool dry_run = false;               // plan it, do not do it
  bool force = false;                 // even if live flows may break
  std::string asked_by;               // for the log: "uid 0, pid 712"; empty where nobody stands behind it
  std::optional<Epoch> expect_epoch;  // refuse unless the site is at this epoch

  [[nodiscard]] bool has(std::string_view name) const { return values.find(name) != values.end(); }
  // The value of a parameter that the parser has made sure of.
  [[nodiscard]] const std::string& at(std::string_view name) const { return values.find(name)->second; }
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
};

}  // namespace guideway
