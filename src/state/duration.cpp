#include "state/duration.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace guideway {
namespace {

using std::chrono::milliseconds;

// Largest first, so that printing takes the first that divides.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> units{
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::int64_t longest_ms = std::int64_t{1000} * 24 * 3'600'000;

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, factor] : units) {
    if (unit != name) continue;
    if (count > longest_ms / factor) return std::nullopt;
    return milliseconds(count * factor);
  }
  return std::nullopt;
}

std::string print_duration(milliseconds span) {
  for (const auto& [name, factor] : units)
    if (span.count() != 0 && span.count() % factor == 0)
      return fmt::format("{}{}", span.count() / factor, name);
  return "0s";
}

std::string rough_duration(milliseconds span) {
  const std::int64_t seconds = span.count() / 1000;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m {}s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h {}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d {}h", seconds / 86400, seconds / 3600 % 24);
}

}  // namespace guideway
