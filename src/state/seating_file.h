// Seating file: a seating as bytes, checked when it comes back.
// What: a fixed little-endian form and its 128-bit XXH3, by which the journal names the file.
// Why:  a drain writes no seating; pools whose seating is the same share one file over all versions.
// Cost: four bytes a row and the members' names; 262 KB for 65,537 rows.
#pragma once

#include <string>
#include <string_view>

#include "guideway/placement.h"
#include "guideway/result.h"

namespace guideway {

[[nodiscard]] std::string seating_bytes(const Seating& seating);
// Refuses anything that seating_bytes cannot have made of a valid seating.
[[nodiscard]] Result<Seating> parse_seating(std::string_view bytes);

// 32 hex digits.
[[nodiscard]] std::string content_hash(std::string_view bytes);

}  // namespace guideway
