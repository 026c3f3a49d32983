// Input file: the text of a FILE that a command names; "-" is the standard input.
#pragma once

#include <string>

#include "guideway/result.h"

namespace guideway {

inline constexpr std::size_t input_bytes_max = std::size_t{64} << 20;  // what the API takes

[[nodiscard]] Result<std::string> read_input(const std::string& path);

}  // namespace guideway
