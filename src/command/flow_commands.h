// Flow commands: what the director remembers of flows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> list_flows(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> show_flow(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> purge_flows(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_flows(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_flow(const nlohmann::json& answer, bool color);
[[nodiscard]] std::string render_purge(const nlohmann::json& answer, bool color);

}  // namespace guideway
