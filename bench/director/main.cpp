// bench_director: what a running director costs and how soon it acts, each figure with its target, in one table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/command_line.h"
#include "bench/director/apart.h"
#include "bench/director/changes.h"
#include "bench/director/start.h"
#include "bench/director/wake.h"
#include "bench/targets.h"

namespace {

using namespace guideway::bench;
using nlohmann::json;

struct Options {
  std::string filter;  // of names
  std::string guidewayd =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "src/daemon/guidewayd";
  std::uint32_t seconds = 5;
  bool as_json = false, empty_eal = false;
};

// One line: a figure, and what it is held to.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit;
  std::string target;
  std::optional<bool> met;
};
struct Part {
  std::string name;
  std::function<std::vector<Figure>()> measure;
};

Figure at_most(std::string what, double value, std::string unit, double limit) {
  std::string target = fmt::format("<= {:g}", limit);
  return {std::move(what), value, std::move(unit), std::move(target), value <= limit};
}
Figure below(std::string what, double value, std::string unit, double limit) {
  std::string target = fmt::format("< {:g}", limit);
  return {std::move(what), value, std::move(unit), std::move(target), value < limit};
}
Figure stated(std::string what, double value, std::string unit) {
  return {std::move(what), value, std::move(unit), {}, {}};
}

std::vector<Figure> changes(std::uint32_t pools, std::uint32_t backends_each, std::uint32_t seconds) {
  const Changes c = apart([&] { return run_changes({pools, backends_each, 100, seconds}); });
  return {
      stated("changes", static_cast<double>(c.changes), ""),
      at_most("packets lost", static_cast<double>(c.lost), "", 0),
      at_most("packets without a verdict", static_cast<double>(c.uncounted), "", 0),
      stated("rate, beside the one without changes", c.packets_per_second / c.packets_per_second_without,
             "x"),
      below("a drain until its first packet", c.drain_median / 1000, "ms", 2),
      stated("  of which what one flush of the disk costs alone", c.durable_bare_median / 1000, "ms"),
      stated("  nine of ten drains", c.drain_p90 / 1000, "ms"),
      stated("an undrain until its first packet", c.undrain_median / 1000, "ms"),
      stated("a change until its answer", c.answer_median / 1000, "ms"),
      at_most("times that the worker waited", static_cast<double>(c.waits), "", 0),
      stated("a worker's round", c.round_median_without, "us"),
      stated("  in seconds with changes", c.round_median, "us"),
      stated("  the first with new rows", c.swap_median, "us"),
      stated("  99.9 % of rounds", c.round_p999_without, "us"),
      stated("  99.9 % in seconds with changes", c.round_p999, "us"),
      stated("  the longest", c.round_most_without, "us"),
      stated("  the longest in seconds with changes", c.round_most, "us"),
  };
}

std::vector<Figure> start(const std::string& guidewayd) {
  const Start s = run_start(guidewayd, 7);
  return {below("guidewayd serves after", s.guidewayd_ms, "ms", 400),
          stated("an empty EAL program is there after", s.empty_eal_ms, "ms"),
          stated("guidewayd beside it", s.guidewayd_ms / s.empty_eal_ms, "x")};
}

std::vector<Figure> asleep(const std::string& guidewayd, std::uint32_t seconds) {
  const Wake wake = apart([&] { return run_wake(10 * seconds); });
  return {below("of a core, all threads, nothing coming in", run_asleep(guidewayd, seconds), "%", 5),
          stated("a packet through an idle worker, median", wake.asleep_us, "us"),
          stated("  99 % of them", wake.asleep_p99_us, "us"),
          stated("  one through a worker that is awake", wake.awake_us, "us")};
}

std::vector<Part> parts(const Options& options) {
  const auto of = [&](std::uint32_t pools, std::uint32_t each) {
    return Part{fmt::format("100 changes a second, {} x {} backends", pools, each),
                [=, &options] { return changes(pools, each, options.seconds); }};
  };
  return {of(1, 100),
          of(100, 10),
          of(100, 100),
          {"start", [&] { return start(options.guidewayd); }},
          {"asleep", [&] { return asleep(options.guidewayd, options.seconds); }}};
}

int run(const Options& options) {
  json all = json::array();
  Verdicts verdicts;
  for (const Part& part : parts(options)) {
    if (part.name.find(options.filter) == std::string::npos) continue;
    const std::vector<Figure> figures = part.measure();
    if (!options.as_json) fmt::print("\n{}\n", part.name);
    for (const Figure& one : figures) {
      if (!options.as_json)
        fmt::print("  {:<52} {:>9.4g} {:<3} {:<6} {}\n", one.what, one.value, one.unit, word(one.met),
                   one.target);
      all.push_back({{"part", part.name}, {"what", one.what}, {"value", one.value}, {"unit", one.unit}});
      verdicts.add(fmt::format("{}, {}", part.name, one.what), one.met);
      if (one.met) all.back()["target"] = one.target, all.back()["met"] = *one.met;
    }
    std::fflush(stdout);
  }
  if (all.empty()) {
    fmt::print(stderr, "bench: no part's name holds \"{}\"\n", options.filter);
    return 2;
  }
  if (options.as_json)
    fmt::print("{}\n", all.dump(2));
  else
    fmt::print("\n{}\n", verdicts.line());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What a running director costs, and how soon it acts"};
  Options options;
  app.add_option("--filter", options.filter, "Only parts whose name holds this");
  app.add_option("--seconds", options.seconds, "Seconds of each kind in each part")
      ->check(CLI::Range(1, 600));
  app.add_option("--guidewayd", options.guidewayd, "The daemon that is started");
  app.add_flag("--json", options.as_json, "For machines");
  app.add_flag("--empty-eal", options.empty_eal, "What the start is compared with; not for people");
  if (const auto code = guideway::bench::parse(app, argc, argv)) return *code;
  return options.empty_eal ? run_empty_eal() : run(options);
}
