// At command: a command of the table in the middle of a replay.
#pragma once

#include <chrono>
#include <string>

#include "guideway/result.h"
#include "replay/director.h"

namespace guideway {

// Parses the line by the table of commands and carries it out by the command's own handler; what it changed is
// published when this answers. Refused: what only a daemon can answer, except `health set`.
[[nodiscard]] Result<void> run_at(ReplayDirector& director, const std::string& line,
                                  std::chrono::milliseconds now);

}  // namespace guideway
