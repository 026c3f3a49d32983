// Quota: how many of M rows each member is due (contract 1, item 3).
// What: M * w / sum(w) by largest remainder; ties go to the earlier name.
// Why:  integers only, so that two directors never differ by a rounding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/placement.h"

namespace guideway {

// Rows per member, in the members' order; they add up to row_count, or are empty for no members.
[[nodiscard]] std::vector<std::uint32_t> quotas(std::span<const Member> members, std::uint32_t row_count);

}  // namespace guideway
