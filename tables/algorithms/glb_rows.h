// GLB rows: a table of 65,536 rows in which every host is scored for every row, as GitHub's load balancer does.
// What: row_seed[r] = SipHash-2-4(seed, r as a big-endian u32), 8 bytes; a host's score in the row is the SipHash of
//       row_seed and its address, read big-endian; the lowest is first, the next second.
// Why:  the second is where the row's packets go on to when the first does not know a flow.
// Cost: a SipHash for each host and row: seconds at a few hundred hosts. Shares scatter by sqrt(hosts / rows).
// Not:  weights.
// Source: glb-director's documentation of its forwarding table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

using SipKey = std::array<std::uint8_t, 16>;
using SipDigest = std::array<std::uint8_t, 8>;

[[nodiscard]] SipDigest siphash(const SipKey& key, std::span<const std::uint8_t> bytes);

[[nodiscard]] SipDigest glb_row_seed(const SipKey& seed, std::uint32_t row);

// What is scored of a node: the bytes of the address that its name is, else the name.
[[nodiscard]] std::vector<std::uint8_t> glb_identity(std::string_view name);

// `identity` has at most 64 bytes.
[[nodiscard]] std::uint64_t glb_score(const SipKey& seed, const SipDigest& row_seed,
                                      std::span<const std::uint8_t> identity);

}  // namespace guideway
