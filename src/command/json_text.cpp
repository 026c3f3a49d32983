#include "command/json_text.h"

#include <nlohmann/json.hpp>

namespace guideway {

using nlohmann::json;

namespace {

constexpr int depth_max = 16;

}  // namespace

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parse_json(const std::string& text) {
  const auto keep = [](int depth, json::parse_event_t, const json&) { return depth < depth_max; };
  return json::parse(text, keep, false);
}

}  // namespace guideway
