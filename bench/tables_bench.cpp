// Tables: what a deal, all rows of a pool and a change of a few of them cost, beside what they may cost.
// Names: Deal/WHAT/WEIGHTS/rows/backends, Rows/build/WEIGHTS/VARIANT/backends, Rows/update/CHANGE/backends,
//        Rows/digest/backends. VARIANT is the loop that the ranking runs on: plain, avx2, avx512 (reach.h).
//        The label is the bound that the figure has to meet; counters of Rows/build: ns a row, bytes a row.
// How to read and repeat them: bench/README.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <random>

#include "guideway/placement.h"
#include "guideway/rows.h"
#include "tables/hops.h"
#include "tables/reach.h"

namespace guideway {
namespace {

constexpr std::uint32_t rows_large = 655'373;
constexpr std::uint64_t bench_seed = 0x5eed;

enum class Weights { equal, random };

const char* name_of(Weights weights) { return weights == Weights::equal ? "equal" : "random"; }

std::vector<Member> bench_members(std::size_t count, Weights weights) {
  std::mt19937 random(1);
  std::vector<Member> members;
  for (std::size_t i = 0; i < count; ++i) {
    const auto any = static_cast<std::uint32_t>(1 + random() % weight_max);
    members.push_back(
        {.name = fmt::format("backend-{:05}", i), .weight = weights == Weights::equal ? 100 : any});
  }
  return members;
}

Seating dealt(const std::vector<Member>& members, std::uint32_t row_count = rows_default) {
  return deal(empty_seating(bench_seed, row_count), {}, members).value();
}

using Run = std::function<void(benchmark::State&)>;

void add(const std::string& name, Run run, const std::string& bound) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run = std::move(run), bound](benchmark::State& state) {
                                 state.SetLabel(bound);
                                 run(state);
                               })
      ->Unit(benchmark::kMillisecond)
      ->ComputeStatistics("min", [](const std::vector<double>& figures) {
        return *std::min_element(figures.begin(), figures.end());
      });
}

// One deal, again and again, after one that is not measured: it takes the process's memory from the kernel, page by
// page, which on some virtual machines costs more than the deal. The list of members is copied each time, as a deal
// consumes it.
void time_deal(benchmark::State& state, const Seating& before, const std::vector<Member>& members) {
  const std::vector<BackendState> active(before.members.size());
  benchmark::DoNotOptimize(deal(before, active, members));
  for (auto _ : state) {
    const auto after = deal(before, active, members);
    benchmark::DoNotOptimize(after->holder.data());
  }
}

void add_deals(std::size_t count, Weights weights, std::uint32_t row_count) {
  const auto name = [&](const char* what) {
    return fmt::format("Deal/{}/{}/{}/{}", what, name_of(weights), row_count, count);
  };
  const bool large = row_count == rows_large;
  add(
      name("from_nothing"),
      [=](benchmark::State& state) {
        time_deal(state, empty_seating(bench_seed, row_count), bench_members(count, weights));
      },
      large                       ? "< 25 ms"
      : weights == Weights::equal ? "< 2 ms"
                                  : "< 3 ms");

  const auto add_change = [&](const char* what, const std::function<void(std::vector<Member>&)>& change) {
    add(
        name(what),
        [=](benchmark::State& state) {
          std::vector<Member> members = bench_members(count, weights);
          const Seating before = dealt(members, row_count);
          change(members);
          time_deal(state, before, members);
        },
        large ? "" : "< 3 ms");
  };
  const std::size_t middle = count / 2;
  add_change("joins", [=](auto& members) {
    members.insert(members.begin() + middle, {members[middle].name + "-new"});
  });
  add_change("leaves", [=](auto& members) { members.erase(members.begin() + middle); });
  add_change("weight", [=](auto& members) { members[middle].weight = members[middle].weight / 2 + 1; });
}

void add_builds(std::size_t count, Weights weights) {
  for (const ReachVariant& variant : reach_variants()) {
    const std::string_view kind = variant.name;
    std::string bound;
    if (count == 100) bound = kind == "avx512" ? "< 5 ms" : kind == "avx2" ? "< 15 ms" : "";
    if (count == 1000) bound = kind == "avx512" ? "< 30 ms" : kind == "avx2" ? "< 90 ms" : "";
    add(
        fmt::format("Rows/build/{}/{}/{}", name_of(weights), kind, count),
        [=, &variant](benchmark::State& state) {
          const Seating seating = dealt(bench_members(count, weights));
          const std::vector<MemberStatus> all_up(count);
          std::vector<Row> rows = Hops(seating, all_up, {}, variant).rows();
          for (auto _ : state) {
            rows = Hops(seating, all_up, {}, variant).rows();
            benchmark::DoNotOptimize(rows.data());
          }
          state.counters["bytes/row"] = static_cast<double>(rows.size() * sizeof rows[0]) / rows_default;
          state.counters["time/row"] = benchmark::Counter(
              rows_default, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
        },
        bound);
  }
}

// There and back, each timed alone: the rows must be those before the change.
void add_update(const char* change, std::size_t count, MemberStatus one_before, MemberStatus one_after) {
  add(
      fmt::format("Rows/update/{}/{}", change, count),
      [=](benchmark::State& state) {
        const Seating seating = dealt(bench_members(count, Weights::equal));
        std::vector<MemberStatus> before(count), after(count);
        before[count / 2] = one_before;
        after[count / 2] = one_after;
        const std::vector<Row> start = build_rows(seating, before, {});
        std::vector<Row> rows = start;
        update_rows(rows, seating, before, after, {});
        for (auto _ : state) {
          state.PauseTiming();
          rows = start;
          state.ResumeTiming();
          update_rows(rows, seating, before, after, {});
          benchmark::DoNotOptimize(rows.data());
        }
      },
      count == 1000 ? "< 0.5 ms" : "");
}

void add_digest(std::size_t count) {
  add(
      fmt::format("Rows/digest/{}", count),
      [=](benchmark::State& state) {
        const Seating seating = dealt(bench_members(count, Weights::equal));
        const auto rows = build_rows(seating, std::vector<MemberStatus>(count), {});
        for (auto _ : state) benchmark::DoNotOptimize(rows_digest(rows, seating.members));
      },
      "");
}

void add_all() {
  constexpr MemberStatus up{}, down{.health = Health::down}, draining{.state = BackendState::draining},
      disabled{.state = BackendState::disabled};
  const std::size_t counts[] = {10, 100, 1000, 10000};
  for (const Weights weights : {Weights::equal, Weights::random}) {
    for (const std::uint32_t row_count : {rows_default, rows_large}) {
      for (const std::size_t count : counts) add_deals(count, weights, row_count);
    }
    for (const std::size_t count : counts) add_builds(count, weights);
  }
  for (const std::size_t count : counts) {
    add_update("drain", count, up, draining);
    add_update("undrain", count, draining, up);
    add_update("fail", count, up, down);
    add_update("recover", count, down, up);
    add_update("disable", count, up, disabled);
    add_update("enable", count, disabled, up);
  }
  for (const std::size_t count : counts) add_digest(count);
}

}  // namespace
}  // namespace guideway

int main(int argc, char** argv) {
  // Memory that a deal frees stays with the process for the next one.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  guideway::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
