// Pool alarm: what is wrong with a pool as a whole, in one sentence.
// What: nobody takes new flows, health is ignored because too few are healthy, or l2 does not reach a backend.
// Why:  shares of 100 % look like any other; a person must see that the rows are not what they usually mean.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "command/context.h"

namespace guideway {

// Of a pool that a service uses; nullopt when all is well.
[[nodiscard]] std::optional<std::string> alarm_of(Context& context, const Pool& pool);
// Of all pools, as a list of sentences, and as lines for a person.
[[nodiscard]] nlohmann::json alarms_json(Context& context);
[[nodiscard]] std::string alarm_lines(const nlohmann::json& answer, bool color);

}  // namespace guideway
