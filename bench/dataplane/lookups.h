// Look-ups: this project's flow table beside rte_hash's bulk look-up, in bursts over random keys.
#pragma once

#include <cstdint>

namespace guideway::bench {

struct LookupCosts {
  double ours = 0, rte_hash = 0;  // TSC cycles a look-up
};

// Both hold `flows` flows and are asked for all of them in random order.
[[nodiscard]] LookupCosts compare_lookups(std::uint32_t flows, std::size_t rounds);

}  // namespace guideway::bench
