// Preflight: what outside the agent would keep packets from the server.
// What: looks at the host's settings and answers sentences for a person; none of them stops anything.
#pragma once

#include "agent/interface.h"
#include "agent/settings.h"

namespace guideway::agent {

[[nodiscard]] std::vector<std::string> preflight(const Interface& interface, const Lists& lists);

}  // namespace guideway::agent
