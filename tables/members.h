// Members: what a list of members must be before anything is dealt over it.
// Why: names and weights come from files, commands and journals; behind this check nobody asks again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "guideway/placement.h"

namespace guideway {

// In byte order of names, unique, names of 1..63 bytes of [A-Za-z0-9._-], weights 1..65535, at most 65,535 of
// them.
[[nodiscard]] Result<void> check_members(std::span<const Member> members);

// A prime from rows_min to rows_max.
[[nodiscard]] Result<void> check_row_count(std::uint32_t row_count);

}  // namespace guideway
