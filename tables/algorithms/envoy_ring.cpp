#include "tables/algorithms/envoy_ring.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/balance.h"
#include "tables/algorithms/hash_ring.h"

namespace guideway {
namespace {

constexpr std::uint32_t largest_ring = 8388608;

std::uint64_t rounded_up(std::uint64_t dividend, std::uint64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace

std::vector<std::uint32_t> envoy_points(std::span<const Node> nodes, std::uint32_t ring_size_min,
                                        std::uint32_t ring_size_max) {
  std::uint64_t weights = 0, lightest = weight_max;
  for (const Node& node : nodes) {
    weights += node.weight;
    lightest = std::min<std::uint64_t>(lightest, node.weight);
  }
  // Points are scale / measure for each unit of weight.
  std::uint64_t scale = rounded_up(lightest * ring_size_min, weights), measure = lightest;
  if (scale * weights > ring_size_max * measure) scale = ring_size_max, measure = weights;

  std::vector<std::uint32_t> points;
  std::uint64_t given = 0, weights_so_far = 0;
  for (const Node& node : nodes) {  // rounding carries over, so the sum is never off by more than one
    weights_so_far += node.weight;
    const std::uint64_t due = rounded_up(scale * weights_so_far, measure);
    points.push_back(static_cast<std::uint32_t>(due - given));
    given = due;
  }
  return points;
}

namespace {

class EnvoyRingPlacement final : public Placement {
 public:
  EnvoyRingPlacement(PlacementRequest request, HashRing ring)
      : Placement(std::move(request)), ring_(std::move(ring)) {}
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override { return ring_.owner(key_hash); }
  [[nodiscard]] std::size_t bytes() const override { return ring_.bytes(); }

 private:
  HashRing ring_;
};

Result<PlacementPtr> build_envoy_ring(PlacementRequest request) {
  const PlacementOptions& options = request.options;
  const std::vector<Node>& nodes = request.nodes;
  if (options.ring_size_min == 0 || options.ring_size_min > options.ring_size_max ||
      options.ring_size_max > largest_ring || nodes.size() > options.ring_size_max) {
    return fail(ErrorKind::invalid,
                fmt::format("a ring of {} to {} points does not do for {} backends", options.ring_size_min,
                            options.ring_size_max, nodes.size()),
                {}, fmt::format("let it have from 1 up to {}, and a point a backend", largest_ring));
  }
  const auto counts = envoy_points(nodes, options.ring_size_min, options.ring_size_max);
  std::vector<RingPoint> points;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t k = 0; k < counts[i]; ++k) {
      const std::string label = fmt::format("{}_{}", nodes[i].name, k);
      points.push_back(
          {.at = XXH64(label.data(), label.size(), options.seed), .member = static_cast<MemberIndex>(i)});
    }
  }
  return std::make_unique<EnvoyRingPlacement>(std::move(request), HashRing(std::move(points)));
}

}  // namespace

constexpr Algorithm algorithm::envoy_ring{
    .name = "envoy-ring",
    .summary = "a ring of bounded size, points in proportion to the weights",
    .source = "Envoy's ring hash load balancer",
    .promises = {.pure = true,
                 .undoes = true,
                 .removes_any = true,
                 .honours_weights = true,
                 .keys_stand_alone = true},
    .peak_bound =
        [](std::size_t nodes, const PlacementOptions& options) {
          const auto count = static_cast<double>(nodes);
          return peak_of_gaps(
              nodes, std::min(options.ring_size_max / count, std::max(1.0, options.ring_size_min / count)));
        },
    .build = build_envoy_ring};

}  // namespace guideway
