#include "tables/algorithms/virtual_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tables/xxh3.h"

namespace guideway {

std::uint64_t points_of(std::uint32_t weight, std::uint32_t points) {
  return std::max<std::uint64_t>(1, std::uint64_t{points} * weight / 100);
}

Result<HashRing> virtual_nodes(std::span<const Node> nodes, const PlacementOptions& options) {
  const std::uint64_t total = std::accumulate(
      nodes.begin(), nodes.end(), std::uint64_t{0},
      [&](std::uint64_t sum, const Node& node) { return sum + points_of(node.weight, options.points); });
  if (options.points == 0 || total > ring_points_max) {
    return fail(ErrorKind::invalid,
                fmt::format("a ring of {} points for each weight of 100 would have {} points", options.points,
                            options.points == 0 ? 0 : total),
                {}, fmt::format("choose the points so that there are 1 to {}", ring_points_max));
  }
  std::vector<RingPoint> points;
  points.reserve(total);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint64_t count = points_of(nodes[i].weight, options.points);
    for (std::uint64_t k = 0; k < count; ++k) {
      points.push_back({.at = xxh3(fmt::format("{}#{}", nodes[i].name, k), options.seed),
                        .member = static_cast<MemberIndex>(i)});
    }
  }
  return HashRing(std::move(points));
}

}  // namespace guideway
