// Change answer: what every command that changes the site says when it is done, or planned.
// What: runs a change (or only its plan), turns the plan into JSON and the JSON into sentences.
// Why:  one shape for all of them, so that what was planned reads like what then happened.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/table.h"

namespace guideway {

[[nodiscard]] Result<nlohmann::json> carry_out(Context& context, const Arguments& arguments,
                                               const Change& change);
[[nodiscard]] CommitOptions commit_options(const Arguments& arguments);
[[nodiscard]] nlohmann::json change_json(const Plan& plan, const Arguments& arguments);
[[nodiscard]] std::string render_change(const nlohmann::json& answer, bool color);

}  // namespace guideway
