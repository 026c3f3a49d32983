// Envoy-style ring: a ring whose size is bounded on both sides.
// What: the lightest node has as many points as its share of the smallest ring, rounded up, and the others in
//       proportion; the ring is cut to the largest size. Points are the XXH64 of `name_i`.
// Why:  weights with a small common measure come out exactly, and memory has a bound.
// Not:  monotone: the number of points of a node depends on the others.
// Source: Envoy's documentation of its ring hash load balancer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

// Points per node, in the nodes' order.
[[nodiscard]] std::vector<std::uint32_t> envoy_points(std::span<const Node> nodes,
                                                      std::uint32_t ring_size_min,
                                                      std::uint32_t ring_size_max);

}  // namespace guideway
