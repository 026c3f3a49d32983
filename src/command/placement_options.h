// Placement options: what the verbs share that place and simulate without a site.
// Why:  each is refused with the option as the place, before any work is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/arguments.h"
#include "guideway/result.h"

namespace guideway {

struct NumberRange {
  std::uint64_t least, most;
};

[[nodiscard]] Result<std::uint32_t> number_option(const Arguments& arguments, std::string_view option,
                                                  std::uint32_t usual, NumberRange range);
[[nodiscard]] std::uint64_t seed_option(const Arguments& arguments, std::uint64_t usual);

// --weights W,W,...; none when left out.
[[nodiscard]] Result<std::vector<std::uint32_t>> weights_option(const Arguments& arguments);
// --rows M, a prime in range.
[[nodiscard]] Result<std::uint32_t> rows_option(const Arguments& arguments, std::uint32_t usual);

// "maglev,ring" as its words; empty ones are kept.
[[nodiscard]] std::vector<std::string_view> listed(std::string_view text);

// The error, with the option as its place where it has no place.
[[nodiscard]] tl::unexpected<Error> wrong_option(Error error, std::string_view option);

}  // namespace guideway
