#include "command/movement_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/placement_options.h"
#include "command/text_table.h"
#include "command/values.h"
#include "tables/simulation/fleet.h"
#include "tables/simulation/movement.h"

namespace guideway {

using nlohmann::json;

namespace {

Result<MovementOptions> options_of(const Arguments& arguments) {
  MovementOptions out;
  auto weights = weights_option(arguments);
  if (!weights) return tl::unexpected(weights.error());
  const std::size_t usual = weights->empty() ? out.backends : weights->size();
  const auto backends = number_option(arguments, "backends", static_cast<std::uint32_t>(usual),
                                      {simulated_backends_min, simulated_backends_max});
  if (!backends) return tl::unexpected(backends.error());
  if (auto good = check_fleet_size(*backends); !good) return wrong_option(good.error(), "weights");
  const auto rows = rows_option(arguments, out.rows);
  if (!rows) return tl::unexpected(rows.error());
  const auto changes = number_option(arguments, "changes", out.changes, {1, moved_changes_max});
  if (!changes) return tl::unexpected(changes.error());
  out.weights = std::move(*weights);
  out.backends = *backends, out.rows = *rows, out.changes = *changes;
  out.seed = seed_option(arguments, out.seed);
  return out;
}

json moved_json(const MovedByRule& rule) {
  json kinds = json::object();
  for (std::size_t i = 0; i < fleet_change_names.size(); ++i) {
    const MovedByKind& kind = rule.by[i];
    if (kind.times == 0) continue;
    kinds[std::string(fleet_change_names[i])] = {{"times", kind.times},
                                                 {"moved", kind.moved},
                                                 {"needless", kind.needless},
                                                 {"needless_rows_max", kind.needless_rows_max}};
  }
  return {{"rule", rule.rule}, {"weights", rule.weights}, {"changes", std::move(kinds)},
          {"peak", rule.peak}, {"minimum", rule.minimum}, {"rows_off", rule.rows_off}};
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string share_text(double share) {
  return share == 0 ? "0" : share < 5e-6 ? "<0.001 %" : fmt::format("{:.3f} %", 100 * share);
}

// Of the rule that moves least: what exact shares demand.
double had_to_move(const json& rules, const std::string& kind) {
  double least = 1;
  for (const json& rule : rules) {
    const json& changes = rule.at("changes");
    if (!rule.at("weights") || !changes.contains(kind)) continue;
    const json& moved = changes.at(kind);
    least = std::min(least, moved.at("moved").get<double>() - moved.at("needless").get<double>());
  }
  return least;
}

std::vector<std::string> with_rules(std::vector<std::string> head, const json& rules) {
  for (const json& rule : rules) head.push_back(upper_case(rule.at("rule").get<std::string>()));
  return head;
}

TextTable needless_table(const json& rules) {
  TextTable table(with_rules({"CHANGE", "TIMES", "HAD TO MOVE"}, rules));
  for (const std::string_view name : fleet_change_names) {
    const std::string kind(name);
    const json& all = rules.back().at("changes");
    if (!all.contains(kind)) continue;
    std::vector<Cell> line{kind, all.at(kind).at("times").get<std::uint64_t>(),
                           to_the_right(share_text(had_to_move(rules, kind)))};
    for (const json& rule : rules) {
      const json& changes = rule.at("changes");
      if (!changes.contains(kind)) {
        line.push_back(to_the_right("no weights", Tone::dim));
        continue;
      }
      const double needless = changes.at(kind).at("needless");
      line.push_back(to_the_right(needless == 0 ? "0" : "+ " + share_text(needless),
                                  needless == 0 ? Tone::good : Tone::warn));
    }
    table.add(std::move(line));
  }
  return table;
}

TextTable shares_table(const json& rules) {
  TextTable table(with_rules({"IN THE END"}, rules));
  const auto add = [&](const char* what, const char* key, const char* format) {
    std::vector<Cell> line{what};
    for (const json& rule : rules) {
      line.push_back(to_the_right(fmt::format(fmt::runtime(format), rule.at(key).get<double>())));
    }
    table.add(std::move(line));
  };
  add("fullest backend, over its due", "peak", "{:.4f}");
  add("emptiest", "minimum", "{:.4f}");
  add("rows off at most", "rows_off", "{:.1f}");
  return table;
}

}  // namespace

Result<json> answer_movement(Context&, const Arguments& arguments) {
  const auto options = options_of(arguments);
  if (!options) return tl::unexpected(options.error());
  const auto rules = measure_movement(*options);
  if (!rules) return tl::unexpected(rules.error());
  json all = json::array();
  for (const MovedByRule& rule : *rules) all.push_back(moved_json(rule));
  return json{{"backends", options->backends},
              {"rows", options->rows},
              {"changes", options->changes},
              {"seed", hex64(options->seed)},
              {"rules", std::move(all)}};
}

std::string render_movement(const json& answer, bool color) {
  const json& rules = answer.at("rules");
  return fmt::format(
             "{}, {}, {} at random, up to two backends away at any time: rows whose first hop another "
             "takes\n\n",
             counted(answer.at("backends").get<std::uint64_t>(), "backend"),
             counted(answer.at("rows").get<std::uint64_t>(), "row"),
             counted(answer.at("changes").get<std::uint64_t>(), "change")) +
         needless_table(rules).text(color) + "\n" + shares_table(rules).text(color) +
         "\nHAD TO MOVE  rows per change, by exact shares, on average; behind +, by rule, what moved "
         "besides\n"
         "IN THE END   everybody is back; no share can be nearer to the exact one than a part of a row\n"
         "REBUILD  Maglev dealt anew over whoever takes new flows; GLB  the two best of a row, without "
         "weights\n"
         "SCRATCH, STABLE  Guideway's own, by the pool's option deal; a deal knows seats, "
         "not whom\n                 checks put in for their holders, so rows of a stand-in may go to "
         "another\n";
}

}  // namespace guideway
