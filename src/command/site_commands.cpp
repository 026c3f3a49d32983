#include "command/site_commands.h"

#include <nlohmann/json.hpp>

#include "command/change_answer.h"
#include "command/site_export.h"

namespace guideway {

using nlohmann::json;

Result<json> apply_site(Context& context, const Arguments& arguments) {
  auto imported = parse_import(arguments.input, arguments.at("FILE"));
  if (!imported) return tl::unexpected<Error>(std::move(imported.error()));
  const Site &now = context.version().site, &next = imported->parsed.site;
  if (next.pools.empty() && next.services.empty() && !(now.pools.empty() && now.services.empty()) &&
      !arguments.force && !arguments.dry_run) {
    return fail(ErrorKind::refused, "the file names no service and no pool: the director would serve nothing",
                arguments.at("FILE"), "is it the right file? to empty the site, repeat with --force");
  }
  auto answer = carry_out(context, arguments,
                          ReplaceSite{std::move(imported->parsed.site), std::move(imported->seatings)});
  if (!answer) return answer;
  // A plan warns of the site that it leads to; where there is none to make, the file still has its warnings.
  if ((*answer)["result"] == "unchanged") (*answer)["warnings"] = imported->parsed.warnings;
  return answer;
}

Result<json> undo_change(Context& context, const Arguments& arguments) {
  if (auto fresh = check_epoch(context.version(), commit_options(arguments)); !fresh)
    return tl::unexpected<Error>(fresh.error());
  const auto plan = arguments.dry_run ? context.plan_undo() : context.undo(commit_options(arguments));
  if (!plan) return tl::unexpected<Error>(plan.error());
  json answer = change_json(*plan, arguments);
  if (answer["result"] == "done") answer["notes"].push_back("undo again brings back what this has undone");
  return answer;
}

Result<json> export_site(Context& context, const Arguments&) { return export_json(context.version()); }

std::string render_export(const json& answer, bool) { return answer.at("site").get<std::string>(); }

}  // namespace guideway
