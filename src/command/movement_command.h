// Movement command: `table movement`, which rows each kind of change moves, by rule.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/arguments.h"
#include "command/context.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> answer_movement(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_movement(const nlohmann::json& answer, bool color);

}  // namespace guideway
