// Text file: a file's bytes as they are, up to a limit.
#pragma once

#include <string>

#include "guideway/result.h"

namespace guideway {

inline constexpr std::size_t text_bytes_max = std::size_t{64} << 20;  // of a document, a file or a request

[[nodiscard]] Result<std::string> read_text(const std::string& path);

}  // namespace guideway
