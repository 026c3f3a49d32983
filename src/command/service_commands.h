// Service commands: service list, show, add, remove.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> list_services(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> show_service(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> add_service(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> remove_service(Context& context, const Arguments& arguments);

[[nodiscard]] std::string render_services(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_service(const nlohmann::json& answer, bool color);

}  // namespace guideway
