#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tables/algorithms/algorithms.h"

namespace guideway {
namespace {

constexpr std::array all_algorithms{
    &algorithm::modulo,        &algorithm::ring,        &algorithm::ketama,     &algorithm::envoy_ring,
    &algorithm::bounded_loads, &algorithm::multi_probe, &algorithm::rendezvous, &algorithm::jump,
    &algorithm::anchor,        &algorithm::memento,     &algorithm::maglev,     &algorithm::slots,
    &algorithm::glb_rows,      &algorithm::guideway,
};

}  // namespace

std::span<const Algorithm* const> algorithms() { return all_algorithms; }

Result<const Algorithm*> find_algorithm(std::string_view name) {
  const auto found = std::find_if(all_algorithms.begin(), all_algorithms.end(),
                                  [&](const Algorithm* a) { return a->name == name; });
  if (found != all_algorithms.end()) return *found;
  std::vector<std::string_view> names;
  for (const Algorithm* known : all_algorithms) names.push_back(known->name);
  return fail(ErrorKind::not_found, fmt::format("\"{}\" is no placement algorithm", name), {},
              fmt::format("there are {}", fmt::join(names, ", ")));
}

}  // namespace guideway
