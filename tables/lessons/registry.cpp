#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tables/lessons/lessons.h"

namespace guideway {
namespace {

// From the plainest on.
constexpr std::array all_lessons{
    &lesson::hundred_positions, &lesson::ring_of_ten,   &lesson::thousand_positions,
    &lesson::random_rings,      &lesson::binary_search,
};

}  // namespace

std::span<const Lesson* const> lessons() { return all_lessons; }

Result<const Lesson*> find_lesson(std::string_view name) {
  const auto found =
      std::find_if(all_lessons.begin(), all_lessons.end(), [&](const Lesson* l) { return l->name == name; });
  if (found != all_lessons.end()) return *found;
  std::vector<std::string_view> names;
  for (const Lesson* known : all_lessons) names.push_back(known->name);
  return fail(ErrorKind::not_found, fmt::format("\"{}\" is no lesson", name), {},
              fmt::format("there are {}", fmt::join(names, ", ")));
}

}  // namespace guideway
