// Figure nodes: equal backends and fixed keys, for the tests that repeat published figures.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

inline std::vector<Node> equal_nodes(std::size_t count) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back({fmt::format("node-{:05}", i)});
  return nodes;
}

inline std::vector<std::uint64_t> random_keys(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> keys(count);
  std::generate(keys.begin(), keys.end(), std::ref(random));
  return keys;
}

// Standard deviation over the mean, and the largest over the mean; of the whole population.
struct Spread {
  double deviation = 0, peak = 0;
};

inline Spread spread_of(const std::vector<double>& loads) {
  double sum = 0, squares = 0;
  for (const double load : loads) sum += load;
  const double mean = sum / static_cast<double>(loads.size());
  for (const double load : loads) squares += (load / mean - 1) * (load / mean - 1);
  return {.deviation = std::sqrt(squares / static_cast<double>(loads.size())),
          .peak = *std::max_element(loads.begin(), loads.end()) / mean};
}

}  // namespace guideway
