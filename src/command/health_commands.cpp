#include "command/health_commands.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command/change_answer.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "state/duration.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

namespace {

json report_json(const HealthReport& report) {
  return {{"pool", report.pool},
          {"backend", report.backend},
          {"health", word(report.verdict)},
          {"override", report.override_value ? json(word(*report.override_value)) : json(nullptr)},
          {"checked", word(report.checked)},
          {"last_error", report.last_error},
          {"since_change_ms", report.since_change.count()}};
}

}  // namespace

Result<json> list_health(Context& context, const Arguments&) {
  json out = json::array();
  for (const HealthReport& report : context.live()->health()) out.push_back(report_json(report));
  return json{{"backends", std::move(out)}};
}

Result<json> set_health(Context& context, const Arguments& arguments) {
  const auto pool = pool_of(context.version().site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  const auto backend = backend_of(**pool, arguments.at("NAME"));
  if (!backend) return tl::unexpected<Error>(backend.error());
  if (arguments.dry_run) {
    return fail(ErrorKind::refused, "health set changes no site, so there is no plan of it", {},
                "set it, and take it back with `health set POOL NAME auto`");
  }
  if (auto fresh = check_epoch(context.version(), commit_options(arguments)); !fresh)
    return tl::unexpected<Error>(fresh.error());
  const std::string value = arguments.at("VALUE");
  const std::optional<Health> health = value == "auto" ? std::nullopt : find_word<Health>(value);
  if (auto set = context.live()->set_health((*pool)->name, (*backend)->name, health); !set) {
    return tl::unexpected<Error>(set.error());
  }
  return json{{"pool", (*pool)->name},
              {"backend", (*backend)->name},
              {"override", health ? json(value) : json(nullptr)},
              {"epoch", static_cast<std::uint64_t>(context.version().epoch)}};
}

std::string render_health(const json& answer, bool color) {
  TextTable table({"POOL", "BACKEND", "HEALTH", "BY HAND", "CHECKED", "SINCE", "LAST ERROR"});
  for (const json& report : answer.at("backends")) {
    const std::string health = report.at("health").get<std::string>();
    const Tone tone = health == "up" ? Tone::good : health == "down" ? Tone::bad : Tone::dim;
    table.add({report.at("pool").get<std::string>(), report.at("backend").get<std::string>(),
               Cell(health, tone),
               report.at("override").is_null() ? "-" : report.at("override").get<std::string>(),
               report.at("checked").get<std::string>(),
               rough_duration(std::chrono::milliseconds(report.at("since_change_ms").get<std::int64_t>())),
               report.at("last_error").get<std::string>()});
  }
  return table.empty() ? "no backends, so nothing to check\n" : table.text(color);
}

std::string render_health_set(const json& answer, bool) {
  const std::string who = fmt::format("{} of pool {}", answer.at("backend").get<std::string>(),
                                      answer.at("pool").get<std::string>());
  if (answer.at("override").is_null()) return who + ": its checks decide again\n";
  return fmt::format("{} counts as {} until `health set … auto`, or until guidewayd restarts\n", who,
                     answer.at("override").get<std::string>());
}

}  // namespace guideway
