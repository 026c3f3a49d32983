// Range: the one sentence for a number that is too small or too large.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "guideway/result.h"

namespace guideway {

// nullopt when min <= value <= max.
[[nodiscard]] std::optional<Error> out_of_range(std::string_view what, std::int64_t value, std::int64_t min,
                                                std::int64_t max);
// Weights, with the pointer to `drain` that a weight of 0 gets.
[[nodiscard]] std::optional<Error> bad_weight(std::int64_t weight);

}  // namespace guideway
