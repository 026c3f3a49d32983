#include "toml/near_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace guideway {
namespace {

constexpr std::size_t named_in_full = 6;
constexpr std::size_t longest_word = 64;  // names are at most 63 bytes; longer input is not worth a guess

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> near_match(std::string_view word, std::span<const std::string> known) {
  if (word.size() > longest_word) return std::nullopt;
  const std::size_t tolerated = std::max<std::size_t>(1, word.size() / 3);
  std::optional<std::string> best;
  std::size_t best_distance = tolerated + 1;
  for (const std::string& candidate : known) {
    const std::size_t gap =
        candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (gap >= best_distance) continue;
    if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string some_of(std::span<const std::string> names) {
  if (names.empty()) return "none";
  const std::size_t shown = names.size() <= named_in_full + 1 ? names.size() : named_in_full;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

std::string advice_for(std::string_view word, std::span<const std::string> known, std::string_view subject) {
  if (auto near = near_match(word, known))
    return fmt::format("did you mean \"{}\"? {} has {}", *near, subject, some_of(known));
  return fmt::format("{} has {}", subject, some_of(known));
}

}  // namespace guideway
