// Health commands: health list, health set.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> list_health(Context& context, const Arguments& arguments);
// The verdict by hand, until `auto`; rows follow at once, the epoch stays.
[[nodiscard]] Result<nlohmann::json> set_health(Context& context, const Arguments& arguments);

[[nodiscard]] std::string render_health(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_health_set(const nlohmann::json& answer, bool color);

}  // namespace guideway
