// Status commands: status and stats: a running director at a glance, and its counters.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> show_status(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> show_stats(Context& context, const Arguments& arguments);

[[nodiscard]] std::string render_status(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_stats(const nlohmann::json& answer, bool color);

}  // namespace guideway
