// Run: one command against a context.
#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/table.h"

namespace guideway {

// The answer of the command's handler. Refuses what needs a daemon where there is none; nothing is thrown.
[[nodiscard]] Result<nlohmann::json> run_command(Context& context, const Arguments& arguments);
// What is answered where a command threw.
[[nodiscard]] Error failed_inside(const std::exception& exception, const Command& command);
// {"error", "where", "next", "kind"} as the API sends it, and back; what is no such object is an internal error.
[[nodiscard]] nlohmann::json error_json(const Error& error);
[[nodiscard]] Error error_of(const nlohmann::json& body);

}  // namespace guideway
