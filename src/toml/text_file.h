// Text file: a file's bytes as they are, up to a limit.
// Why:  a pipe will do as well (`guidewayd --director <(…)`), but nobody waits for ever for one that nobody writes to.
#pragma once

#include <chrono>
#include <string>

#include "guideway/result.h"

namespace guideway {

inline constexpr std::size_t text_bytes_max = std::size_t{64} << 20;  // of a document, a file or a request

// `patience`: how long something that is no file may keep silent.
[[nodiscard]] Result<std::string> read_text(const std::string& path,
                                            std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace guideway
