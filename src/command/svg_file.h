// SVG file: where a plot is written.
// What: a new file, or one that begins with our own mark and so is an older plot; anything else stays what it is.
// Why:  `--plot` with a mistyped name must not cost anybody a file.
#pragma once

#include <string>
#include <string_view>

#include "guideway/result.h"

namespace guideway {

// The first line of every plot of ours.
inline constexpr std::string_view svg_mark = "<!-- made by guideway -->\n";

// Whether write_svg would write there, as far as can be told before.
[[nodiscard]] Result<void> check_svg_place(const std::string& path);
[[nodiscard]] Result<void> write_svg(const std::string& path, std::string_view svg);

}  // namespace guideway
