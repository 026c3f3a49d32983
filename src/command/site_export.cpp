#include "command/site_export.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "command/json_text.h"
#include "command/values.h"

namespace guideway {

using nlohmann::json;

namespace {

json seating_json(const Seating& seating) {
  json members = json::array();
  for (const Member& member : seating.members)
    members.push_back({{"name", member.name}, {"weight", member.weight}});
  return {{"seed", hex64(seating.seed)},
          {"rows", seating.row_count},
          {"members", std::move(members)},
          {"holder", seating.holder},
          {"former", seating.former}};
}

bool is_number(const json& value, std::uint64_t max) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= max;
}

bool is_index_list(const json& value) {
  if (!value.is_array()) return false;
  for (const json& index : value)
    if (!is_number(index, no_member)) return false;
  return true;
}

bool is_member(const json& value) {
  return value.is_object() && value.contains("name") && value["name"].is_string() &&
         value.contains("weight") && is_number(value["weight"], weight_max);
}

// The form only; nullopt where it is not that of seating_json.
std::optional<Seating> seating_in(const json& value) {
  if (!value.is_object()) return std::nullopt;
  for (const char* key : {"seed", "rows", "members", "holder", "former"})
    if (!value.contains(key)) return std::nullopt;
  if (!value["seed"].is_string() || !is_number(value["rows"], rows_max) || !value["members"].is_array() ||
      !is_index_list(value["holder"]) || !is_index_list(value["former"]))
    return std::nullopt;
  const auto seed = seed_value(value["seed"].get_ref<const std::string&>());
  if (!seed) return std::nullopt;
  Seating out;
  out.seed = *seed;
  out.row_count = value["rows"].get<std::uint32_t>();
  for (const json& member : value["members"]) {
    if (!is_member(member)) return std::nullopt;
    out.members.push_back({member["name"].get<std::string>(), member["weight"].get<std::uint32_t>()});
  }
  out.holder = value["holder"].get<std::vector<MemberIndex>>();
  out.former = value["former"].get<std::vector<MemberIndex>>();
  return out;
}

bool looks_like_json(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && text[begin] == '{';
}

}  // namespace

json export_json(const SiteVersion& version) {
  json seatings = json::object();
  for (const auto& [pool, seating] : version.seatings) seatings[pool] = seating_json(*seating);
  return {{"epoch", static_cast<std::uint64_t>(version.epoch)},
          {"site", print_site(version.site)},
          {"seatings", std::move(seatings)}};
}

Result<ImportedSite> parse_import(const std::string& text, const std::string& name) {
  ImportedSite out;
  std::optional<std::string> toml;
  if (looks_like_json(text)) {
    const auto refuse = [&name](std::string what) {
      return fail(ErrorKind::invalid, std::move(what), name,
                  "make it with `guideway site export --json`, or give a site as TOML");
    };
    const json document = parse_json(text);
    if (!document.is_object() || !document.contains("site") || !document["site"].is_string())
      return refuse("the JSON holds no site");
    toml = document["site"].get<std::string>();
    if (document.contains("seatings")) {
      if (!document["seatings"].is_object()) return refuse("\"seatings\" is no object");
      for (const auto& [pool, value] : document["seatings"].items()) {
        auto seating = seating_in(value);
        if (!seating) return refuse(fmt::format("the seating of pool \"{}\" is not whole", pool));
        out.seatings.emplace(pool, std::make_shared<const Seating>(std::move(*seating)));
      }
    }
  }
  auto parsed = parse_site(toml ? *toml : text, name);
  if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()));
  out.parsed = std::move(*parsed);
  return out;
}

}  // namespace guideway
