#include "state/range.h"

#include <fmt/format.h>

#include "guideway/placement.h"

namespace guideway {

std::optional<Error> out_of_range(std::string_view what, std::int64_t value, std::int64_t min,
                                  std::int64_t max) {
  if (value >= min && value <= max) return std::nullopt;
  return Error{ErrorKind::invalid,
               value > max ? fmt::format("{} {} is above {}", what, value, max)
                           : fmt::format("{} {} is below {}", what, value, min),
               {},
               fmt::format("use {} to {}", min, max)};
}

std::optional<Error> bad_weight(std::int64_t weight) {
  if (weight == 0)
    return Error{
        ErrorKind::invalid,
        "weight 0 is not a weight",
        {},
        fmt::format("to send no new flows use `guideway backend drain POOL NAME` (state = \"draining\"); "
                    "weights are 1 to {}",
                    weight_max)};
  return out_of_range("weight", weight, 1, weight_max);
}

}  // namespace guideway
