// Comparison plot: shares and movement of each algorithm as an SVG.
// What: one line an algorithm; to the left how full its backends are, a tick each, to the right what the change moves,
//       with the part that had to move and the part that had not.
// Why:  a plot shows at a glance what a table of figures must be read for; plain SVG opens anywhere.
// Not:  a chart library: axes, ticks and labels are all there is. Equal comparisons give equal bytes.
#pragma once

#include <string>

#include "guideway/compare.h"

namespace guideway {

[[nodiscard]] std::string comparison_svg(const Comparison& comparison);

}  // namespace guideway
