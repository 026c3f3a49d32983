// Simulate command: `simulate`, what changes break under each rule.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/arguments.h"
#include "command/context.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> simulate_rules(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_simulation(const nlohmann::json& answer, bool color);

}  // namespace guideway
