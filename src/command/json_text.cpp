#include "command/json_text.h"

#include <nlohmann/json.hpp>

namespace guideway {

using nlohmann::json;

namespace {

constexpr std::size_t depth_max = 16;

// Told from the brackets and commas alone, so that hostile text is refused before anything is made of it.
bool is_within(const std::string& text, std::size_t values_max) {
  std::size_t depth = 0, values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > depth_max || ++values > values_max) return false;
    } else if (c == ']' || c == '}') {
      if (depth > 0) --depth;
    } else if (c == ',' && ++values > values_max) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parse_json(const std::string& text, std::size_t values_max) {
  if (!is_within(text, values_max)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, false);
}

}  // namespace guideway
