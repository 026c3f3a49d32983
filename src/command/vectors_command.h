// Vectors command: `table vectors`, the golden vectors of routing contract 1 as this program answers them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/arguments.h"
#include "command/context.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> answer_vectors(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_vectors(const nlohmann::json& answer, bool color);

}  // namespace guideway
