// Balance: how full the fullest node may be, where chance decides.
// What: Chernoff's bound on the largest of `nodes` shares, over their mean, that all seeds but one in a thousand
//       million keep.
// Why:  a test that asks for less would fail some day; one that asks for much more would miss a fault.
#pragma once

#include <cstddef>

namespace guideway {

inline constexpr double balance_doubt = 1e-9;

// Shares that are sums of `points` exponential gaps (a ring with that many points a node).
[[nodiscard]] double peak_of_gaps(std::size_t nodes, double points);

// Shares that are counts with a mean of `mean` (rows or keys that each choose by themselves).
[[nodiscard]] double peak_of_counts(std::size_t nodes, double mean);

}  // namespace guideway
