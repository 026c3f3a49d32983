// Pool commands: pool list, show, add, remove.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> list_pools(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> show_pool(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> add_pool(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> remove_pool(Context& context, const Arguments& arguments);

[[nodiscard]] std::string render_pools(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_pool(const nlohmann::json& answer, bool color);

}  // namespace guideway
