#include "tables/algorithms/balance.h"

#include <algorithm>
#include <cmath>

namespace guideway {
namespace {

// The x > 1 at which nodes * exp(-mass * rate(x)) is the doubt; no share is above the whole.
template <class Rate>
double peak(std::size_t nodes, double mass, Rate rate) {
  const auto count = static_cast<double>(nodes);
  const double wanted = std::log(count / balance_doubt) / mass;
  double low = 1, high = count;
  if (count <= 1 || rate(high) <= wanted) return count;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (rate(middle) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

double peak_of_gaps(std::size_t nodes, double points) {
  return peak(nodes, points, [](double x) { return x - 1 - std::log(x); });
}

double peak_of_counts(std::size_t nodes, double mean) {
  return peak(nodes, mean, [](double x) { return x * std::log(x) - x + 1; });
}

}  // namespace guideway
