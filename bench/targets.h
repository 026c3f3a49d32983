// Targets: how a figure's verdict is said, and what a run's verdicts come to.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace guideway::bench {

// Of a figure that is held to a target, or to none.
[[nodiscard]] inline const char* word(const std::optional<bool>& met) {
  return !met ? "" : *met ? "met" : "MISSED";
}

// A table's last line, so that nobody has to look for the one figure that missed.
class Verdicts {
 public:
  void add(std::string_view name, const std::optional<bool>& met) {
    if (!met) return;
    if (*met)
      ++met_;
    else
      missed_.emplace_back(name);
  }
  [[nodiscard]] std::string line() const {
    if (met_ + missed_.size() == 0) return "no figure of this run has a target";
    return fmt::format("{} of {} targets met{}{}", met_, met_ + missed_.size(),
                       missed_.empty() ? "" : "; missed: ", fmt::join(missed_, "; "));
  }

 private:
  std::size_t met_ = 0;
  std::vector<std::string> missed_;
};

}  // namespace guideway::bench
