// Look-ups: this project's flow table beside rte_hash's bulk look-up, in bursts over random keys.
#pragma once

#include <cstdint>

namespace guideway::bench {

// TSC cycles a look-up.
struct LookupCosts {
  double ours = 0, rte_hash = 0;
  // A cache line of the flow table, asked for and read, and nothing else: what any table of that size pays at least.
  double cache_line = 0;
};

// Both hold `flows` flows and are asked for all of them in random order.
[[nodiscard]] LookupCosts compare_lookups(std::uint32_t flows, std::size_t rounds);

}  // namespace guideway::bench
