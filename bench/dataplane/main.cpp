// bench_dataplane: what a packet costs, beside what it must cost at least, in one table.
#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/command_line.h"
#include "bench/dataplane/clock.h"
#include "bench/dataplane/end_to_end.h"
#include "bench/dataplane/lookups.h"
#include "bench/dataplane/run_case.h"
#include "bench/dataplane/two_workers.h"
#include "bench/targets.h"
#include "io/eal.h"

namespace {

using namespace guideway;
using namespace guideway::bench;
using nlohmann::json;

struct Options {
  std::string filter;  // of names
  std::size_t rounds = 200;
  bool stages = false, json = false;
  std::vector<std::string> bare;  // names of cases
  std::size_t bursts = 0;
  bool receive_only = false;

  [[nodiscard]] bool wanted(const std::string& name) const { return name.find(filter) != std::string::npos; }
};

// One row of the table.
struct Line {
  std::string name;
  Costs costs;
  std::string target;
  std::optional<bool> met;
};

// Memory without hugetlbfs, but of transparent huge pages, so that rte_hash has what the flow table has.
rte_mempool* start_eal() {
  static std::array<std::string, 13> words{
      "bench",       "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "--log-level=error",
      "--iova-mode", "va",        "-m",       "1024",        "--file-prefix",  "",
      "--lcores=0@0"};
  words[11] = fmt::format("gw-bench-{}", getpid());
  words[12] = fmt::format("--lcores=0@{}", std::max(sched_getcpu(), 0));
  std::array<char*, words.size() + 1> arguments{};
  std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
  if (rte_eal_init(static_cast<int>(words.size()), arguments.data()) < 0) return nullptr;
  rmdir(rte_eal_get_runtime_dir());  // made however little is kept in it
  rte_memseg_list_walk(
      [](const rte_memseg_list* list, void*) {
        madvise(list->base_va, list->len, MADV_HUGEPAGE);  // a wish; the figures say whether it was granted
        return 0;
      },
      nullptr);
  return rte_pktmbuf_pool_create("packets", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
}

Line judged(const Case& one, const Costs& costs, const std::vector<Line>& before) {
  Line line{one.name, costs, {}, {}};
  if (one.limit) {
    line.target = fmt::format("<= {:.0f}", *one.limit);
    line.met = costs.over_floor() <= *one.limit;
  }
  if (one.ratio) {
    const auto beside = std::ranges::find(before, one.beside, &Line::name);
    if (beside == before.end()) return line;
    const double ratio = costs.whole / beside->costs.whole;
    line.target = fmt::format("{:.2f}x <= {:.2f}x of \"{}\"", ratio, *one.ratio, one.beside);
    line.met = ratio <= *one.ratio;
  }
  return line;
}

void print(const Line& line, double per_ns) {
  fmt::print("{:<30} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} {:>10.1f} {:>7.1f}  {:<6} {}\n", line.name,
             line.costs.receive, line.costs.copy_only, line.costs.floor, line.costs.whole,
             line.costs.over_floor(), line.costs.over_floor() / per_ns, word(line.met), line.target);
  std::fflush(stdout);
}

json as_json(const Line& line) {
  json out{
      {"name", line.name},         {"receive", line.costs.receive}, {"copy_only", line.costs.copy_only},
      {"floor", line.costs.floor}, {"whole", line.costs.whole},     {"over_floor", line.costs.over_floor()}};
  if (line.met) out["target"] = line.target, out["met"] = *line.met;
  return out;
}

constexpr std::uint32_t lookup_sizes[] = {10'000, 1'000'000, 8'000'000};
std::string lookup_name(std::uint32_t flows) { return fmt::format("look-up, {} flows", flows); }
constexpr const char* end_to_end_name = "end to end";
constexpr const char* two_workers_name = "two workers";

bool wants_nothing(const Options& options, const std::vector<Case>& cases) {
  const auto wanted = [&](const std::string& name) { return options.wanted(name); };
  return std::ranges::none_of(cases, wanted, &Case::name) &&
         std::ranges::none_of(lookup_sizes, wanted, lookup_name) && !wanted(end_to_end_name) &&
         !wanted(two_workers_name);
}

// The parts beside the cases; each prints its lines, unless JSON is wanted, and answers with what they say.
json tell_lookups(const Options& options, Verdicts& verdicts) {
  json out = json::array();
  for (const std::uint32_t flows : lookup_sizes) {
    const std::string name = lookup_name(flows);
    if (!options.wanted(name)) continue;
    const LookupCosts costs = compare_lookups(flows, options.rounds);
    const double ratio = costs.rte_hash / costs.ours;
    const bool held_to = flows == 1'000'000, met = ratio >= 3;
    if (!options.json)
      fmt::print("{:<30} ours {:.1f}, rte_hash in bulk {:.1f}: {:.2f}x  {}; a cache line each {:.1f}\n", name,
                 costs.ours, costs.rte_hash, ratio, held_to ? (met ? "met    >= 3x" : "MISSED >= 3x") : "",
                 costs.cache_line);
    out.push_back({{"flows", flows},
                   {"ours", costs.ours},
                   {"rte_hash", costs.rte_hash},
                   {"cache_line", costs.cache_line},
                   {"ratio", ratio}});
    if (held_to) out.back()["met"] = met, verdicts.add(name, met);
  }
  return out;
}

json tell_end_to_end(const Options& options, Verdicts& verdicts) {
  json out;
  if (!options.wanted(end_to_end_name)) return out;
  const EndToEnd costs = run_end_to_end(options.rounds);
  const auto tell = [&](const char* name, double cycles, double least) {
    const double share = costs.macswap / cycles;
    if (!options.json)
      fmt::print("{:<30} {:.1f}, macswap {:.1f}: {:.2f} of its rate  {} >= {:.2f}\n", name, cycles,
                 costs.macswap, share, share >= least ? "met   " : "MISSED", least);
    out[name] = {{"worker", cycles}, {"macswap", costs.macswap}, {"share", share}, {"met", share >= least}};
    verdicts.add(name, share >= least);
  };
  tell("end to end, stateless", costs.stateless, 0.35);
  tell("end to end, 1 million flows", costs.tracked, 0.25);
  return out;
}

// The target is of two free cores: where arithmetic alone does not show them, the figures are stated and not judged.
json tell_two_workers(const Options& options, const std::vector<unsigned>& cpus, Verdicts& verdicts) {
  constexpr double least = 1.9;
  json out;
  const auto second =
      std::ranges::find_if(cpus, [](unsigned cpu) { return static_cast<int>(cpu) != sched_getcpu(); });
  if (!options.wanted(two_workers_name) || second == cpus.end()) return out;
  const TwoWorkers both = run_two_workers(*second, options.rounds);
  const bool free_cores = both.arithmetic >= least;
  const auto tell = [&](const char* name, double multiple) {
    const auto met = free_cores ? std::optional(multiple >= least) : std::nullopt;
    if (!options.json)
      fmt::print("{:<30} {:.2f}x one alone, arithmetic {:.2f}x  {}\n", name, multiple, both.arithmetic,
                 met ? fmt::format("{:<6} >= {:.1f}x", word(met), least) : "not judged: no two free cores");
    out[name] = {{"multiple", multiple}, {"arithmetic", both.arithmetic}};
    if (met) out[name]["met"] = *met;
    verdicts.add(name, met);
  };
  tell("two workers, stateless", both.stateless);
  tell("two workers, 1 million flows", both.tracked);
  return out;
}

int run(const Options& options) {
  const std::vector<Case> all_cases = pipeline_cases();
  if (options.bare.empty() && wants_nothing(options, all_cases)) {
    fmt::print(stderr, "bench: no case's name holds \"{}\"\n", options.filter);
    return 2;
  }
  const std::vector<unsigned> cpus = usable_cpus();  // before EAL takes this thread to one of them
  rte_mempool* mbufs = start_eal();
  if (mbufs == nullptr) {
    fmt::print(stderr, "bench: DPDK did not start: {}; 1 GB of free memory is what it needs\n",
               rte_strerror(rte_errno));
    return 1;
  }
  if (!options.bare.empty()) {
    for (const std::string& name : options.bare) {
      const auto found = std::ranges::find(all_cases, name, &Case::name);
      if (found == all_cases.end()) {
        fmt::print(stderr, "bench: there is no case \"{}\"\n", name);
        return 2;
      }
      run_bare(*found, mbufs, options.bursts, !options.receive_only);
    }
    return 0;
  }
  const double per_ns = cycles_per_ns();
  std::vector<Line> lines;
  Verdicts verdicts;
  json cases = json::array();
  if (!options.json) {
    fmt::print("TSC cycles a packet, {:.2f} to a nanosecond; medians of {} rounds of 2,048 packets\n\n",
               per_ns, options.rounds);
    fmt::print("{:<30} {:>7} {:>7} {:>7} {:>7} {:>10} {:>7}  target\n", "case", "receive", "copy", "floor",
               "whole", "over floor", "ns");
  }
  for (const Case& one : all_cases) {
    if (!options.wanted(one.name)) continue;
    lines.push_back(judged(one, run_case(one, mbufs, options.rounds), lines));
    verdicts.add(one.name, lines.back().met);
    if (!options.json) print(lines.back(), per_ns);
    cases.push_back(as_json(lines.back()));
    if (!options.stages) continue;
    for (const StageCost& stage : run_stages(one, mbufs, options.rounds)) {
      if (!options.json) fmt::print("    {:<26} {:>7.1f}\n", stage.stage, stage.cycles);
      cases.back()["stages"][stage.stage] = stage.cycles;
    }
  }
  const json lookups = tell_lookups(options, verdicts), end_to_end = tell_end_to_end(options, verdicts),
             two_workers = tell_two_workers(options, cpus, verdicts);
  if (options.json) {
    const json all{{"cycles_per_ns", per_ns},
                   {"cases", cases},
                   {"lookups", lookups},
                   {"end_to_end", end_to_end},
                   {"two_workers", two_workers}};
    fmt::print("{}\n", all.dump(2));
  } else {
    fmt::print("\n{}\n", verdicts.line());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What a packet costs in the data plane, beside the floor of the same run"};
  Options options;
  app.add_option("--filter", options.filter, "Only cases whose name holds this");
  app.add_option("--rounds", options.rounds, "Rounds of 2,048 packets a figure")
      ->check(CLI::Range(1, 100'000));
  app.add_flag("--stages", options.stages, "Also each stage by itself");
  app.add_flag("--json", options.json, "For machines");
  app.add_option("--bare", options.bare, "Run this case and measure nothing, for valgrind; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--bursts", options.bursts, "With --bare: how many bursts of 32")
      ->check(CLI::Range(0, 1'000'000));
  app.add_flag("--receive-only", options.receive_only, "With --bare: leave the pipeline out");
  app.footer("bench/report director: changes under load, start, sleep; bench/report all: both");
  if (const auto code = guideway::bench::parse(app, argc, argv)) return *code;
  return run(options);
}
