// Input file: the text of a FILE that a command names; "-" is the standard input.
#pragma once

#include <string>

#include "guideway/result.h"

namespace guideway {

[[nodiscard]] Result<std::string> read_input(const std::string& path);

}  // namespace guideway
