#include "tables/algorithms/hash_ring.h"

#include <algorithm>

namespace guideway {

HashRing::HashRing(std::vector<RingPoint> points) {
  std::sort(points.begin(), points.end(), [](const RingPoint& a, const RingPoint& b) {
    return a.at != b.at ? a.at < b.at : a.member < b.member;
  });
  at_.reserve(points.size());
  member_.reserve(points.size());
  for (const RingPoint& point : points) {
    at_.push_back(point.at);
    member_.push_back(point.member);
  }
}

std::size_t HashRing::successor(std::uint64_t position) const {
  const auto found = std::lower_bound(at_.begin(), at_.end(), position);
  return found == at_.end() ? 0 : static_cast<std::size_t>(found - at_.begin());
}

}  // namespace guideway
