// Report: what a replay came to, as JSON (docs/replay.md has the schema).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "replay/replay.h"

namespace guideway {

[[nodiscard]] nlohmann::json report_json(const ReplayResult& result, const ReplayDirector& director,
                                         const AuditReport& audit, const std::string& link_type);
// The same for a person, a few lines.
[[nodiscard]] std::string report_text(const nlohmann::json& report);

}  // namespace guideway
