// Compare commands: `table compare`, placement algorithms side by side, and the lessons behind them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/arguments.h"
#include "command/context.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> compare_algorithms(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_comparison(const nlohmann::json& answer, bool color);

}  // namespace guideway
