// Check: whether a file is a good site, or a good director file, before it is used.
// What: parses, checks, deals the seats and builds what the workers would read; warns about what is allowed
//       but unwise.
// Not:  the host: devices, addresses and routes are looked at when the daemon starts.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> check_file(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_check(const nlohmann::json& answer, bool color);

}  // namespace guideway
