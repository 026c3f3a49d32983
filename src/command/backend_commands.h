// Backend commands: backend list, add, drain, undrain, disable, enable, remove, weight.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> list_backends(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> add_backend(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> drain_backend(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> undrain_backend(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> disable_backend(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> enable_backend(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> remove_backend(Context& context, const Arguments& arguments);
[[nodiscard]] Result<nlohmann::json> weigh_backend(Context& context, const Arguments& arguments);

// Any answer with "backends" as site_view's backends_json makes them.
[[nodiscard]] std::string render_backends(const nlohmann::json& answer, bool color);

}  // namespace guideway
