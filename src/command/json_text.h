// JSON text: values to text and back, without an exception and without limitless memory.
// Why:  text comes from whoever may connect: a megabyte of "[" would become a value of hundreds of megabytes.
#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace guideway {

// Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_text(const nlohmann::json& value);
// A discarded value where the text is no JSON, is nested deeper than anything of ours or has more values than that.
[[nodiscard]] nlohmann::json parse_json(const std::string& text,
                                        std::size_t values_max = std::numeric_limits<std::size_t>::max());

}  // namespace guideway
