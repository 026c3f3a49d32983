// Met: how a figure beside its target is told.
#pragma once

#include <optional>

namespace guideway::bench {

// Nothing where there is no target.
[[nodiscard]] inline const char* word(const std::optional<bool>& met) {
  if (!met) return "";
  return *met ? "met" : "MISSED";
}

}  // namespace guideway::bench
