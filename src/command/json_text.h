// JSON text: values to text and back, without an exception and without limitless memory.
// Why:  text comes from whoever may connect: a megabyte of "[" would become a value of hundreds of megabytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace guideway {

// Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_text(const nlohmann::json& value);
// A discarded value where the text is no JSON; what is nested deeper than anything of ours is left out.
[[nodiscard]] nlohmann::json parse_json(const std::string& text);

}  // namespace guideway
