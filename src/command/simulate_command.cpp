#include "command/simulate_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command/placement_options.h"
#include "command/text_table.h"
#include "command/values.h"
#include "tables/simulation/simulation.h"

namespace guideway {

using nlohmann::json;

namespace {

Result<std::vector<const Scenario*>> scenarios_of(const Arguments& arguments) {
  std::vector<const Scenario*> out;
  if (const auto name = arguments.find("scenario")) {
    const auto found = find_scenario(*name);
    if (!found) return wrong_option(found.error(), "scenario");
    return std::vector{*found};
  }
  for (const Scenario& scenario : scenarios()) out.push_back(&scenario);
  return out;
}

Result<SimulationOptions> options_of(const Arguments& arguments) {
  SimulationOptions out;
  const auto backends = number_option(arguments, "backends", static_cast<std::uint32_t>(out.backends),
                                      {simulated_backends_min, simulated_backends_max});
  if (!backends) return tl::unexpected(backends.error());
  const auto rows = rows_option(arguments, out.rows);
  if (!rows) return tl::unexpected(rows.error());
  const auto steps = number_option(arguments, "steps", out.steps, {1, simulated_steps_max});
  if (!steps) return tl::unexpected(steps.error());
  out.backends = *backends, out.rows = *rows, out.steps = *steps;
  out.seed = seed_option(arguments, out.seed);
  if (const auto names = arguments.find("rule")) {
    for (const std::string_view name : listed(*names)) {
      const auto rule = find_hop_rule(name);
      if (!rule) return wrong_option(rule.error(), "rule");
      out.rules.push_back((*rule)->name);
    }
  }
  return out;
}

json rule_json(const SimulatedRule& rule) {
  json lost = json::array();
  for (std::size_t i = 0; i < rule.lost_per_million.size(); ++i) {
    lost.push_back({{"flow_table", all_flow_settings[i].flow_table},
                    {"directors", all_flow_settings[i].directors},
                    {"lost_per_million", rule.lost_per_million[i]}});
  }
  return {{"rule", rule.rule},
          {"hops", rule.hops},
          {"lost", std::move(lost)},
          {"first_moved", rule.first_moved},
          {"peak", rule.peak}};
}

std::string lost_text(double per_million) {
  if (per_million == 0) return "0";
  if (per_million < 0.05) return "<0.1";
  return per_million < 100 ? fmt::format("{:.1f}", per_million)
                           : grouped(static_cast<std::uint64_t>(per_million + 0.5));
}

std::string scenario_text(const json& scenario, bool color) {
  TextTable table({"RULE", "HOPS", "ONE DIRECTOR", "TWO", "ONE, TABLE", "TWO, TABLE", "MOVED", "PEAK"});
  for (const json& rule : scenario.at("rules")) {
    std::vector<Cell> line{rule.at("rule").get<std::string>(), rule.at("hops").get<std::uint64_t>()};
    for (const json& setting : rule.at("lost")) {
      const double lost = setting.at("lost_per_million");
      line.push_back(to_the_right(lost_text(lost), lost == 0 ? Tone::good : Tone::plain));
    }
    line.push_back(to_the_right(fmt::format("{:.2f} %", 100 * rule.at("first_moved").get<double>())));
    line.push_back(to_the_right(fmt::format("{:.3f}", rule.at("peak").get<double>())));
    table.add(std::move(line));
  }
  return toned(scenario.at("scenario").get<std::string>(), Tone::strong, color) + ": " +
         scenario.at("tells").get<std::string>() + "\n" + table.text(color) + "\n";
}

}  // namespace

Result<json> simulate_rules(Context&, const Arguments& arguments) {
  const auto chosen = scenarios_of(arguments);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto options = options_of(arguments);
  if (!options) return tl::unexpected(options.error());
  json out{{"backends", options->backends},
           {"rows", options->rows},
           {"steps", options->steps},
           {"seed", hex64(options->seed)},
           {"scenarios", json::array()}};
  for (const Scenario* scenario : *chosen) {
    const auto rules = simulate(*scenario, *options);
    if (!rules) return tl::unexpected(rules.error());
    json all = json::array();
    for (const SimulatedRule& rule : *rules) all.push_back(rule_json(rule));
    out["scenarios"].push_back(
        {{"scenario", scenario->name}, {"tells", scenario->tells}, {"rules", std::move(all)}});
  }
  return out;
}

std::string render_simulation(const json& answer, bool color) {
  std::string out = fmt::format("{}, {}, {} each: flows that break, of a million that cross a change\n\n",
                                counted(answer.at("backends").get<std::uint64_t>(), "backend"),
                                counted(answer.at("rows").get<std::uint64_t>(), "row"),
                                counted(answer.at("steps").get<std::uint64_t>(), "change"));
  for (const json& scenario : answer.at("scenarios")) out += scenario_text(scenario, color);
  return out +
         fmt::format(
             "RULE   rebuild: Maglev dealt anew, alone or with the table before as second hop; glb: the two "
             "best of a row;\n       scratch, stable: Guideway's own, by the pool's option deal; "
             "two-formers: no "
             "rule of Guideway's, a proposal\n"
             "TWO    directors; {:.0f} % of the flows change directors at each change, and one acts on each "
             "a change late\n"
             "TABLE  each director remembers the flows whose SYN it saw; it never fills here\n"
             "MOVED  rows whose first hop another took, per change; PEAK  fullest first hop over the mean\n"
             "A flow lives {:.0f} changes on average. Flows on a backend that goes end with it and do not "
             "count.\n",
             100 * ecmp_reshuffle, flow_life_steps);
}

}  // namespace guideway
