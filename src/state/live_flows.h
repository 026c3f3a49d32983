// Live flows: what a director knows of the flows that its backends still have.
// Why:  a plan that cuts off a draining backend must know whether anybody is left on it.
// Not:  flows of pools without a flow table, or of the site's other directors: nobody here counts those.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace guideway {

struct LiveFlows {
  // Open flows of a backend in this director's flow tables; reads them whole. Empty where nothing runs.
  std::function<std::uint64_t(const std::string& pool, const std::string& backend)> count;
  std::chrono::milliseconds known_for{0};  // since when the tables are filled; older flows may be in none
};

}  // namespace guideway
