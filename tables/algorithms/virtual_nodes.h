// Virtual nodes: the points of weighted nodes on a ring.
// What: a node of weight w has points * w / 100 of them, at least one; point i is the XXH3 of `name#i`.
// Why:  how many points a node has depends on nothing but itself, so no other node's points ever move.
// Cost: refused above ring_points_max, before any memory is taken.
#pragma once

#include <cstdint>
#include <span>

#include "guideway/algorithm.h"
#include "tables/algorithms/hash_ring.h"

namespace guideway {

inline constexpr std::uint64_t ring_points_max = std::uint64_t{1} << 26;

[[nodiscard]] std::uint64_t points_of(std::uint32_t weight, std::uint32_t points);

[[nodiscard]] Result<HashRing> virtual_nodes(std::span<const Node> nodes, const PlacementOptions& options);

}  // namespace guideway
