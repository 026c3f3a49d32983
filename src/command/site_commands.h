// Site commands: apply, undo, site export.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> apply_site(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> undo_change(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> export_site(Context& context, const Arguments& arguments);

[[nodiscard]] std::string render_export(const nlohmann::json& answer, bool color);

}  // namespace guideway
