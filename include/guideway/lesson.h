// Lesson: a published observation about placement, worked out anew.
// What: each lesson computes its figures from the rules alone and sets them beside the published ones.
// Why:  who plans a fleet should see what virtual nodes, a change or a bad draw does before it does it to them; and a
//       figure that is recomputed in a test cannot be misremembered.
// Cost: a tenth of a second each; the same figures every time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/result.h"

namespace guideway {

struct Figure {
  std::string name;       // "peak over mean, 16 points a node"
  std::string measured;   // as one reads it: "1.54", "11.2 %", "B"
  std::string published;  // likewise; empty where it is ours alone
  double value = 0;       // what was measured as a number; 0 where it is a word
  bool agrees = true;     // with the published one, to within its rounding
};

struct Lesson {
  std::string_view name;
  std::string_view teaches;  // one sentence
  std::vector<Figure> (*run)();
};

[[nodiscard]] std::span<const Lesson* const> lessons();

// Refused: a name that is not there, with all that are.
[[nodiscard]] Result<const Lesson*> find_lesson(std::string_view name);

}  // namespace guideway
