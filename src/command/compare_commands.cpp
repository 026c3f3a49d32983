#include "command/compare_commands.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command/comparison_plot.h"
#include "command/placement_options.h"
#include "command/svg_file.h"
#include "guideway/compare.h"
#include "guideway/lesson.h"

namespace guideway {

using nlohmann::json;

namespace {

constexpr std::size_t backends_usual = 10;

Result<std::vector<Node>> nodes_of(const Arguments& arguments) {
  const auto weights = weights_option(arguments);
  if (!weights) return tl::unexpected(weights.error());
  const std::size_t usual = weights->empty() ? backends_usual : weights->size();
  const auto count =
      number_option(arguments, "backends", static_cast<std::uint32_t>(usual), {1, members_max - 1});
  if (!count) return tl::unexpected(count.error());
  return numbered_nodes(*count, *weights);
}

Result<std::vector<const Algorithm*>> algorithms_of(const Arguments& arguments) {
  const auto text = arguments.find("algorithm");
  if (!text) return std::vector(algorithms().begin(), algorithms().end());
  std::vector<const Algorithm*> out;
  for (const std::string_view name : listed(*text)) {
    const auto found = find_algorithm(name);
    if (!found) return wrong_option(found.error(), "algorithm");
    out.push_back(*found);
  }
  return out;
}

Result<ComparisonRequest> request_of(const Arguments& arguments) {
  auto nodes = nodes_of(arguments);
  if (!nodes) return tl::unexpected(nodes.error());
  ComparisonRequest out{.nodes = std::move(*nodes), .change = {}};
  out.change.name = out.nodes.back().name;
  if (out.nodes.size() == 1) out.change = {.kind = ComparedChange::Kind::add};
  if (const auto text = arguments.find("change")) {
    const auto change = parse_compared_change(*text);
    if (!change) return wrong_option(change.error(), "change");
    out.change = *change;
  }
  const auto keys = number_option(arguments, "keys", out.keys, {1, compared_keys_max});
  if (!keys) return tl::unexpected(keys.error());
  out.keys = *keys;
  const auto rows = rows_option(arguments, out.options.rows);
  if (!rows) return tl::unexpected(rows.error());
  out.options.rows = *rows;
  out.options.seed = seed_option(arguments, out.options.seed);
  return out;
}

json fullness_json(const FullnessFigures& figures) {
  return {{"peak", figures.peak},
          {"minimum", figures.minimum},
          {"deviation", figures.deviation},
          {"error", figures.error}};
}

json movement_json(const MovementFigures& figures) {
  return {{"moved", figures.moved},
          {"needless", figures.needless},
          {"partners", figures.partners},
          {"busiest", figures.busiest},
          {"busiest_name", figures.busiest_name}};
}

json algorithm_json(const ComparedAlgorithm& one) {
  json out{{"algorithm", one.algorithm->name},
           {"summary", one.algorithm->summary},
           {"source", one.algorithm->source}};
  if (one.refusal) {
    out["refusal"] = one.refusal->text();
    return out;
  }
  out["keys"] = fullness_json(one.keys);
  if (one.rows) out["rows"] = fullness_json(*one.rows);
  if (!one.without_rows.empty()) out["without_rows"] = one.without_rows;
  if (one.movement) out["movement"] = movement_json(*one.movement);
  if (one.change_refusal) out["change_refusal"] = one.change_refusal->text();
  out["build_ms"] = one.cost.build_ms;
  if (one.cost.change_ms) out["change_ms"] = *one.cost.change_ms;
  out["lookup_ns"] = one.cost.lookup_ns;
  out["bytes"] = one.cost.bytes;
  return out;
}

json comparison_json(const Comparison& comparison) {
  json nodes = json::array(), all = json::array();
  for (const Node& node : comparison.before) nodes.push_back({{"name", node.name}, {"weight", node.weight}});
  for (const ComparedAlgorithm& one : comparison.algorithms) all.push_back(algorithm_json(one));
  return {{"backends", std::move(nodes)},
          {"keys", comparison.keys},
          {"change", compared_change_text(comparison.change)},
          {"wins", comparison.wins},
          {"due", comparison.due},
          {"scatter", comparison.scatter},
          {"algorithms", std::move(all)}};
}

json lesson_json(const Lesson& lesson) {
  json figures = json::array();
  for (const Figure& figure : lesson.run()) {
    figures.push_back({{"name", figure.name},
                       {"measured", figure.measured},
                       {"published", figure.published},
                       {"agrees", figure.agrees}});
  }
  return {{"lesson", lesson.name}, {"teaches", lesson.teaches}, {"figures", std::move(figures)}};
}

Result<json> tell_lesson(const Arguments& arguments) {
  for (const auto& [option, value] : arguments.values) {
    if (option == "lesson") continue;
    return fail(ErrorKind::usage, fmt::format("a lesson has no use for --{}", option), "--lesson",
                "leave it out; a lesson has backends and keys of its own");
  }
  if (arguments.at("lesson") == "list") {
    json all = json::array();
    for (const Lesson* lesson : lessons()) {
      all.push_back({{"lesson", lesson->name}, {"teaches", lesson->teaches}});
    }
    return json{{"lessons", std::move(all)}};
  }
  const auto lesson = find_lesson(arguments.at("lesson"));
  if (!lesson) return wrong_option(lesson.error(), "lesson");
  return lesson_json(**lesson);
}

}  // namespace

Result<json> compare_algorithms(Context&, const Arguments& arguments) {
  if (arguments.has("lesson")) return tell_lesson(arguments);
  const auto request = request_of(arguments);
  if (!request) return tl::unexpected(request.error());
  const auto chosen = algorithms_of(arguments);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto plot = arguments.find("plot");
  if (plot) {  // before the work, not after it
    if (auto good = check_svg_place(std::string(*plot)); !good) return tl::unexpected(good.error());
  }
  const auto comparison = compare(*request, *chosen);
  if (!comparison) return tl::unexpected(comparison.error());
  json out = comparison_json(*comparison);
  if (plot) {
    if (auto written = write_svg(std::string(*plot), comparison_svg(*comparison)); !written) {
      return tl::unexpected(written.error());
    }
    out["plot"] = *plot;
  }
  return out;
}

}  // namespace guideway
