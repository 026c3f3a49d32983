#include "command/site_commands.h"

#include <nlohmann/json.hpp>

#include "command/change_answer.h"
#include "command/values.h"
#include "state/site_file.h"

namespace guideway {

using nlohmann::json;

namespace {

json seating_json(const Seating& seating) {
  json members = json::array();
  for (const Member& member : seating.members) {
    members.push_back({{"name", member.name}, {"weight", member.weight}});
  }
  return {{"seed", hex64(seating.seed)},
          {"rows", seating.row_count},
          {"members", std::move(members)},
          {"holder", seating.holder},
          {"former", seating.former}};
}

}  // namespace

Result<json> apply_site(Context& context, const Arguments& arguments) {
  auto parsed = parse_site(arguments.input, arguments.at("FILE"));
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  auto answer = carry_out(context, arguments, ReplaceSite{std::move(parsed->site)});
  if (!answer) return answer;
  for (std::string& warning : parsed->warnings) (*answer)["warnings"].push_back(std::move(warning));
  return answer;
}

Result<json> undo_change(Context& context, const Arguments& arguments) {
  if (auto fresh = check_epoch(context.version(), commit_options(arguments)); !fresh)
    return tl::unexpected<Error>(fresh.error());
  const auto plan = arguments.dry_run ? context.plan_undo() : context.undo(commit_options(arguments));
  if (!plan) return tl::unexpected<Error>(plan.error());
  return change_json(*plan, arguments);
}

Result<json> export_site(Context& context, const Arguments&) {
  const SiteVersion& version = context.version();
  json seatings = json::object();
  for (const auto& [pool, seating] : version.seatings) seatings[pool] = seating_json(*seating);
  return json{{"epoch", static_cast<std::uint64_t>(version.epoch)},
              {"site", print_site(version.site)},
              {"seatings", std::move(seatings)}};
}

std::string render_export(const json& answer, bool) { return answer.at("site").get<std::string>(); }

}  // namespace guideway
