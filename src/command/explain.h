// Explain: what becomes of one flow, and why.
// What: follows a tuple through the site as the data plane would: service, key, hash, row, seat holder,
//       former, hops with the reason for each, and the bytes that would stand before the packet.
// Why:  the first question in any incident is where this client's packets go.
// Not:  the flow tables; a known flow stays with the backend of its entry, and the answer says so.
#pragma once

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> explain_flow(Context& context, const Arguments& arguments);
[[nodiscard]] std::string render_explanation(const nlohmann::json& answer, bool color);

}  // namespace guideway
