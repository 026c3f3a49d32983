#include "command/backend_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/change_answer.h"
#include "command/pool_alarm.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"
#include "state/duration.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

namespace {

struct Place {
  const Pool* pool;
  const Backend* backend;
};

Result<Place> place_of(Context& context, const Arguments& arguments) {
  const auto pool = pool_of(context.version().site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  const auto backend = backend_of(**pool, arguments.at("NAME"));
  if (!backend) return tl::unexpected<Error>(backend.error());
  return Place{*pool, *backend};
}

Result<json> set_state(Context& context, const Arguments& arguments, BackendState state) {
  const auto place = place_of(context, arguments);
  if (!place) return tl::unexpected<Error>(place.error());
  return carry_out(context, arguments, SetBackendState{place->pool->name, place->backend->name, state});
}

// undrain and enable each undo their own verb only: to enable what drains would silently end the drain.
Result<json> reactivate(Context& context, const Arguments& arguments, BackendState other,
                        std::string_view verb) {
  const auto place = place_of(context, arguments);
  if (!place) return tl::unexpected<Error>(place.error());
  if (place->backend->state == other) {
    return fail(ErrorKind::refused, fmt::format("{} is {}", place->backend->name, word(other)),
                "pool " + place->pool->name,
                fmt::format("use `backend {} {} {}`", verb, place->pool->name, place->backend->name));
  }
  return set_state(context, arguments, BackendState::active);
}

Tone tone_of_state(std::string_view state) {
  return state == "active" ? Tone::plain : state == "draining" ? Tone::warn : Tone::dim;
}

Tone tone_of_health(std::string_view health) {
  return health == "up" ? Tone::good : health == "down" ? Tone::bad : Tone::dim;
}

std::string percent(const json& backend) {
  const double rows = backend.at("rows").get<double>();
  return rows == 0 ? "0.0 %" : fmt::format("{:.1f} %", 100.0 * backend.at("first_rows").get<double>() / rows);
}

Cell flows_left_cell(const json& backend) {
  const auto flows = backend.at("live_flows").get<std::uint64_t>();
  if (backend.at("unseen_flows").is_null()) return flows;
  return to_the_right(grouped(flows) + " or more", Tone::warn);
}

// Of those that somebody wants to take out.
std::string unseen_lines(const json& backends) {
  std::string out;
  for (const json& backend : backends)
    if (backend.contains("live_flows") && !backend.at("unseen_flows").is_null())
      out += fmt::format("{} may have flows that nobody here has counted: {}\n",
                         backend.at("name").get<std::string>(),
                         backend.at("unseen_flows").at("sentence").get<std::string>());
  return out;
}

}  // namespace

Result<json> list_backends(Context& context, const Arguments& arguments) {
  const Site& site = context.version().site;
  json backends = json::array();
  if (const auto name = arguments.find("POOL")) {
    const auto pool = pool_of(site, *name);
    if (!pool) return tl::unexpected<Error>(pool.error());
    json alarms = json::array();
    if (auto alarm = alarm_of(context, **pool)) alarms.push_back(std::move(*alarm));
    return json{{"backends", backends_json(context, **pool)}, {"alarms", std::move(alarms)}};
  }
  for (const Pool& pool : site.pools) {
    json more = backends_json(context, pool);
    std::move(more.begin(), more.end(), std::back_inserter(backends));
  }
  return json{{"backends", std::move(backends)}, {"alarms", alarms_json(context)}};
}

// Whoever is not yet checked counts as `initial`.
std::string unchecked_note(const Pool& pool, const Backend& backend) {
  const HealthCheck& check = pool.health;
  if (check.type == HealthCheckType::none || check.initial != Health::up ||
      backend.state != BackendState::active)
    return {};
  return fmt::format(
      "{} takes new flows at once, before anybody has checked it; its first result decides, within about {}; "
      "with `initial = \"down\"` in the pool's health check a new backend waits for it",
      backend.name, print_duration(check.timeout));
}

Result<json> add_backend(Context& context, const Arguments& arguments) {
  const auto pool = pool_of(context.version().site, arguments.at("POOL"));
  if (!pool) return tl::unexpected<Error>(pool.error());
  const auto address = address_value(arguments.at("ADDRESS"));
  if (!address) return tl::unexpected<Error>(address.error());
  Backend backend;
  backend.name = arguments.at("NAME");
  backend.address = *address;
  if (const auto text = arguments.find("weight")) backend.weight = *weight_value(*text);
  if (const auto text = arguments.find("state")) backend.state = *find_word<BackendState>(*text);
  const std::string note = unchecked_note(**pool, backend);
  auto answer = carry_out(context, arguments, AddBackend{(*pool)->name, std::move(backend)});
  if (answer && !note.empty() && answer->at("result") != "unchanged") (*answer)["notes"].push_back(note);
  return answer;
}

// A drain would let connections come back to who was stopped for good.
Result<json> drain_backend(Context& context, const Arguments& arguments) {
  const auto place = place_of(context, arguments);
  if (!place) return tl::unexpected<Error>(place.error());
  if (place->backend->state == BackendState::disabled) {
    const std::string who = place->pool->name + " " + place->backend->name;
    return fail(ErrorKind::refused, place->backend->name + " is disabled, it has no flows to let end",
                "pool " + place->pool->name,
                fmt::format("`backend enable {}` before, or take it out: `backend remove {}`", who, who));
  }
  return set_state(context, arguments, BackendState::draining);
}

Result<json> undrain_backend(Context& context, const Arguments& arguments) {
  return reactivate(context, arguments, BackendState::disabled, "enable");
}

Result<json> disable_backend(Context& context, const Arguments& arguments) {
  return set_state(context, arguments, BackendState::disabled);
}

Result<json> enable_backend(Context& context, const Arguments& arguments) {
  return reactivate(context, arguments, BackendState::draining, "undrain");
}

Result<json> remove_backend(Context& context, const Arguments& arguments) {
  const auto place = place_of(context, arguments);
  if (!place) return tl::unexpected<Error>(place.error());
  return carry_out(context, arguments, RemoveBackend{place->pool->name, place->backend->name});
}

Result<json> weigh_backend(Context& context, const Arguments& arguments) {
  const auto place = place_of(context, arguments);
  if (!place) return tl::unexpected<Error>(place.error());
  const auto weight = weight_value(arguments.at("WEIGHT"));
  if (!weight) return tl::unexpected<Error>(weight.error());
  return carry_out(context, arguments, SetBackendWeight{place->pool->name, place->backend->name, *weight});
}

std::string render_backends(const json& answer, bool color) {
  const json& backends = answer.at("backends");
  const bool flows = std::any_of(backends.begin(), backends.end(),
                                 [](const json& backend) { return backend.contains("live_flows"); });
  std::vector<std::string> head{"POOL",  "BACKEND", "ADDRESS", "WEIGHT",
                                "STATE", "HEALTH",  "SEATS",   "NEW FLOWS"};
  if (flows) head.emplace_back("FLOWS LEFT");
  TextTable table(head);
  for (const json& backend : backends) {
    const std::string state = backend.at("state").get<std::string>();
    const std::string health = backend.at("health").get<std::string>();
    std::vector<Cell> line{
        backend.at("pool").get<std::string>(),    backend.at("name").get<std::string>(),
        backend.at("address").get<std::string>(), backend.at("weight").get<std::uint64_t>(),
        Cell(state, tone_of_state(state)),        Cell(health, tone_of_health(health)),
        backend.at("seats").get<std::uint64_t>(), to_the_right(percent(backend))};
    if (flows) {
      line.push_back(backend.contains("live_flows") ? flows_left_cell(backend) : to_the_right("-"));
    }
    table.add(std::move(line));
  }
  if (table.empty()) return "no backends; add one with `guideway backend add POOL NAME ADDRESS`\n";
  const bool unknown = std::any_of(backends.begin(), backends.end(),
                                   [](const json& backend) { return backend.at("health") == "unknown"; });
  return table.text(color) + alarm_lines(answer, color) + unseen_lines(backends) +
         (unknown
              ? "health unknown: no check, or none has answered yet; counts as the pool's health.initial\n"
              : "");
}

}  // namespace guideway
