// Algorithms: what each of the registry costs to build and to ask, and how it treats the keys.
// Names: Build/ALGORITHM/backends, Lookup/ALGORITHM/backends. Counters of Build: peak (of the fullest backend over the
// mean), sd, and in percent of the keys: moved and needless when one in the middle leaves.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "guideway/algorithm.h"

namespace guideway {
namespace {

std::vector<Node> bench_nodes(std::size_t count) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back({fmt::format("backend-{:05}", i)});
  return nodes;
}

std::vector<std::uint64_t> bench_keys(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t& key : keys) key = random();
  return keys;
}

void report_treatment(benchmark::State& state, const Placement& before, std::vector<Node> nodes) {
  const auto keys = bench_keys(nodes.size() * 1000);
  std::vector<MemberIndex> owners(keys.size()), later(keys.size());
  before.assign(keys, owners);
  std::vector<double> load(nodes.size());
  for (const MemberIndex owner : owners) load[owner] += 0.001;
  double squares = 0, peak = 0;
  for (const double l : load) squares += (l - 1) * (l - 1), peak = std::max(peak, l);
  state.counters["peak"] = peak;
  state.counters["sd"] = std::sqrt(squares / static_cast<double>(nodes.size()));
  state.counters["bytes"] = static_cast<double>(before.bytes());

  const std::size_t gone = before.algorithm().promises.removes_any ? nodes.size() / 2 : nodes.size() - 1;
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(gone));
  const PlacementPtr after = place_after(before, nodes).value();
  after->assign(keys, later);
  double moved = 0, needless = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool moves = before.nodes()[owners[i]].name != after->nodes()[later[i]].name;
    moved += moves;
    needless += moves && owners[i] != gone;
  }
  state.counters["moved%"] = 100 * moved / static_cast<double>(keys.size());
  state.counters["needless%"] = 100 * needless / static_cast<double>(keys.size());
}

void build(benchmark::State& state, const Algorithm& algorithm) {
  const auto nodes = bench_nodes(static_cast<std::size_t>(state.range(0)));
  PlacementPtr placement;
  for (auto _ : state) placement = place(algorithm, nodes).value();
  report_treatment(state, *placement, nodes);
}

void look_up(benchmark::State& state, const Algorithm& algorithm) {
  const PlacementPtr placement =
      place(algorithm, bench_nodes(static_cast<std::size_t>(state.range(0)))).value();
  const auto keys = bench_keys(std::size_t{1} << 16);  // more than a branch predictor learns
  std::vector<MemberIndex> owners(keys.size());
  for (auto _ : state) {
    placement->assign(keys, owners);
    benchmark::DoNotOptimize(owners.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(keys.size()));
}

}  // namespace
}  // namespace guideway

int main(int argc, char** argv) {
  using namespace guideway;
  for (const Algorithm* algorithm : algorithms()) {
    const std::string name(algorithm->name);
    benchmark::RegisterBenchmark(("Build/" + name).c_str(), build, *algorithm)
        ->Arg(10)
        ->Arg(100)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("Lookup/" + name).c_str(), look_up, *algorithm)
        ->Arg(10)
        ->Arg(100)
        ->Arg(1000);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
