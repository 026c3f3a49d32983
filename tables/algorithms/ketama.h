// Ketama: the ring that memcached clients agree on.
// What: a server of share s among N has floor(s * 40 * N) MD5 digests of `name-k`, each giving four 32-bit points,
//       little-endian; a key's place is the first four bytes of its MD5, likewise.
// Not:  monotone with unequal weights: a change alters every server's share, and with it its number of points.
// Source: libketama, 2007.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "guideway/algorithm.h"
#include "tables/algorithms/hash_ring.h"

namespace guideway {

// Digests per node, in the nodes' order; in integers, so exactly 40 where weights are equal.
[[nodiscard]] std::vector<std::uint32_t> ketama_digests(std::span<const Node> nodes);

// The points of the k-th digest of a server.
[[nodiscard]] std::array<std::uint32_t, 4> ketama_points(std::string_view name, std::uint32_t k);

[[nodiscard]] HashRing ketama_ring(std::span<const Node> nodes);

}  // namespace guideway
