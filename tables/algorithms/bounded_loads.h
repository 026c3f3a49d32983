// Bounded loads: a ring on which no node gets more than c times its fair share.
// What: of m keys a node of weight w takes at most ceil(c * m * w / sum(w)); a full one hands on clockwise.
// Cost: more probes the closer c is to 1; and movement: a node that leaves fills others up, which hand on in turn, so
//       at c = 1.25 five to nine times the keys move that move on the ring without a bound.
// Not:  the owner of a key alone: it depends on the keys before it.
// Source: Mirrokni, Thorup and Zadimoghaddam, Consistent Hashing with Bounded Loads, 2016.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/algorithm.h"
#include "tables/algorithms/hash_ring.h"

namespace guideway {

// The most keys of `keys` that a node of `weight` may take.
[[nodiscard]] std::uint64_t load_cap(std::uint64_t keys, std::uint32_t weight, std::uint64_t weights,
                                     std::uint32_t load_percent);

// Writes the owners of the keys, placed in this order; returns the number of points that were looked at.
std::uint64_t assign_bounded(const HashRing& ring, std::span<const Node> nodes, std::uint32_t load_percent,
                             std::span<const std::uint64_t> key_hashes, std::span<MemberIndex> owners);

}  // namespace guideway
