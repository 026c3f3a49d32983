// How `table compare` reads for a person: one line an algorithm, refusals and meanings below.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command/compare_commands.h"
#include "command/text_table.h"
#include "guideway/compare.h"
#include "toml/near_match.h"

namespace guideway {

using nlohmann::json;

namespace {

Cell percent_cell(double share, Tone tone = Tone::plain) {
  return to_the_right(fmt::format("{:.2f} %", 100 * share), tone);
}

Cell none_cell() { return to_the_right("-", Tone::dim); }

Cell time_cell(double ns) {
  const auto [value, unit] = ns < 1e3   ? std::pair(ns, "ns")
                             : ns < 1e6 ? std::pair(ns / 1e3, "us")
                                        : std::pair(ns / 1e6, "ms");
  return to_the_right(fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, unit));
}

void add_movement(std::vector<Cell>& line, const json& one) {
  const auto movement = one.find("movement");
  if (movement == one.end()) {
    line.insert(line.end(), 4, none_cell());
    return;
  }
  const double needless = movement->at("needless");
  line.push_back(percent_cell(movement->at("moved")));
  line.push_back(percent_cell(needless, needless > 0 ? Tone::warn : Tone::good));
  line.emplace_back(movement->at("partners").get<std::uint64_t>());
  line.push_back(percent_cell(movement->at("busiest")));
}

std::vector<Cell> comparison_line(const json& one) {
  std::vector<Cell> line{one.at("algorithm").get<std::string>()};
  if (one.contains("refusal")) {
    line.insert(line.end(), 12, none_cell());
    return line;
  }
  const json& keys = one.at("keys");
  line.push_back(to_the_right(fmt::format("{:.3f}", keys.at("peak").get<double>())));
  line.push_back(to_the_right(fmt::format("{:.3f}", keys.at("minimum").get<double>())));
  line.push_back(percent_cell(keys.at("deviation")));
  line.push_back(percent_cell(keys.at("error")));
  line.push_back(one.contains("rows") ? percent_cell(one.at("rows").at("error")) : none_cell());
  add_movement(line, one);
  line.push_back(time_cell(1e6 * one.at("build_ms").get<double>()));
  line.push_back(time_cell(one.at("lookup_ns")));
  line.emplace_back(one.at("bytes").get<std::uint64_t>());
  return line;
}

std::string weights_text(const json& backends) {
  const auto first = backends.at(0).at("weight").get<std::uint32_t>();
  for (const json& backend : backends) {
    if (backend.at("weight") != first) return "of their own weights";
  }
  return "of equal weight";
}

std::string change_sentence(const json& answer) {
  const ComparedChange change = parse_compared_change(answer.at("change").get<std::string>()).value();
  switch (change.kind) {
    case ComparedChange::Kind::add:
      return fmt::format("{} comes with weight {}", change.name, change.weight);
    case ComparedChange::Kind::remove:
      return fmt::format("{} goes", change.name);
    case ComparedChange::Kind::weight:
      break;
  }
  return fmt::format("{} gets weight {}", change.name, change.weight);
}

std::string without_rows_text(const json& one) {
  const auto names = one.at("without_rows").get<std::vector<std::string>>();
  return fmt::format("{}: {} without a row: {}; use more rows, or weights closer to each other\n",
                     one.at("algorithm").get<std::string>(), counted(names.size(), "backend"),
                     some_of(names));
}

std::string notes(const json& answer) {
  std::string out;
  for (const json& one : answer.at("algorithms")) {
    for (const char* kind : {"refusal", "change_refusal"}) {
      if (one.contains(kind)) {
        out +=
            fmt::format("{}: {}\n", one.at("algorithm").get<std::string>(), one.at(kind).get<std::string>());
      }
    }
    if (one.contains("without_rows")) out += without_rows_text(one);
  }
  return out.empty() ? out : "\n" + out;
}

std::string meanings(const json& answer) {
  const bool wins = answer.at("wins");
  return fmt::format(
      "\nPEAK, MIN  keys of the fullest and of the emptiest backend, over what its weight is due\n"
      "SD         how far backends are off what they are due, root mean square\n"
      "ERROR      keys that lie elsewhere than exact shares would have them; {:.2f} % are the draw of so few "
      "keys\n"
      "ROWS       the same of a dealt table's rows, without that\n"
      "NEEDLESS   of MOVED: keys that went between two backends that did not change\n"
      "{}\n"
      "BUILD, LOOK-UP  processor time; BYTES  that a look-up reads from\n",
      100 * answer.at("scatter").get<double>(),
      wins ? "GIVERS     backends that gave keys up for it; BUSIEST  the largest part of them from one"
           : "HEIRS      backends that took over its keys; BUSIEST  the largest part of them at one");
}

std::string render_lesson(const json& answer, bool color) {
  std::string out = toned(answer.at("lesson").get<std::string>(), Tone::strong, color) + ": " +
                    answer.at("teaches").get<std::string>() + "\n\n";
  TextTable table({"", "HERE", "PUBLISHED"});
  for (const json& figure : answer.at("figures")) {
    const bool agrees = figure.at("agrees");
    table.add({figure.at("name").get<std::string>(),
               to_the_right(figure.at("measured").get<std::string>(), agrees ? Tone::plain : Tone::bad),
               to_the_right(figure.at("published").get<std::string>())});
  }
  return out + table.text(color);
}

std::string render_lessons(const json& answer, bool color) {
  TextTable table({"LESSON", "TEACHES"});
  for (const json& lesson : answer.at("lessons")) {
    table.add({lesson.at("lesson").get<std::string>(), lesson.at("teaches").get<std::string>()});
  }
  return table.text(color);
}

}  // namespace

std::string render_comparison(const json& answer, bool color) {
  if (answer.contains("lessons")) return render_lessons(answer, color);
  if (answer.contains("lesson")) return render_lesson(answer, color);
  const bool wins = answer.at("wins");
  TextTable table({"ALGORITHM", "PEAK", "MIN", "SD", "ERROR", "ROWS", "MOVED", "NEEDLESS",
                   wins ? "GIVERS" : "HEIRS", "BUSIEST", "BUILD", "LOOK-UP", "BYTES"});
  for (const json& one : answer.at("algorithms")) table.add(comparison_line(one));
  const json& backends = answer.at("backends");
  std::string out = fmt::format("{} {}, {}; then {}: {:.2f} % of the keys have to move\n\n",
                                counted(backends.size(), "backend"), weights_text(backends),
                                counted(answer.at("keys").get<std::uint64_t>(), "key"),
                                change_sentence(answer), 100 * answer.at("due").get<double>());
  out += table.text(color) + notes(answer) + meanings(answer);
  if (answer.contains("plot")) out += fmt::format("plot: {}\n", answer.at("plot").get<std::string>());
  return out;
}

}  // namespace guideway
