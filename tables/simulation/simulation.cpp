#include "tables/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "tables/members.h"

namespace guideway {
namespace {

// One number of hops of a family, in every setting.
class Variant {
 public:
  Variant(std::uint32_t hops, const SimulationOptions& options, std::span<const RowHops> rows)
      : hops_(hops), total_(options.settings.size()) {
    for (const FlowSetting& setting : options.settings) flows_.emplace_back(setting, hops, rows);
  }

  void cross(std::span<const RowHops> now, std::span<const RowHops> late, const Fleet& fleet, bool counts) {
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      const Crossing one = flows_[i].cross(now, late, fleet);
      if (!counts) continue;
      total_[i].crossed += one.crossed;
      total_[i].lost += one.lost;
    }
  }

  [[nodiscard]] SimulatedRule result(std::string_view rule) const {
    SimulatedRule out{.rule = rule, .hops = hops_};
    for (const Crossing& total : total_) out.lost_per_million.push_back(1e6 * total.lost / total.crossed);
    return out;
  }

 private:
  std::uint32_t hops_;
  std::vector<Flows> flows_;
  std::vector<Crossing> total_;
};

double moved_share(std::span<const RowHops> before, std::span<const RowHops> now) {
  std::size_t moved = 0;
  for (std::size_t row = 0; row < now.size(); ++row) moved += before[row][0] != now[row][0] ? 1 : 0;
  return static_cast<double>(moved) / static_cast<double>(now.size());
}

double peak_over_mean(std::span<const RowHops> rows, const Fleet& fleet) {
  std::vector<std::uint32_t> count(fleet.backends().back().number + 1U);
  for (const RowHops& row : rows) {
    if (row[0] < count.size()) ++count[row[0]];
  }
  const auto serving = std::count_if(fleet.backends().begin(), fleet.backends().end(),
                                     [](const SimulatedBackend& backend) { return backend.takes_new(); });
  return *std::max_element(count.begin(), count.end()) * static_cast<double>(serving) /
         static_cast<double>(rows.size());
}

void play(const HopRuleFamily& family, const Scenario& scenario, const SimulationOptions& options,
          std::vector<SimulatedRule>& out) {
  Fleet fleet(options.backends);
  std::mt19937_64 random(options.seed);
  const auto rule = family.make(options.seed, options.rows);
  rule->change(fleet);
  std::vector<Variant> variants;
  for (const std::uint32_t hops : family.hops) variants.emplace_back(hops, options, rule->rows());
  double moved = 0, peak = 0;
  for (std::uint32_t step = 0; step < options.warm_up + options.steps; ++step) {
    const std::vector<RowHops> before = rule->rows();
    scenario.step(fleet, options.backends, step, random);
    rule->change(fleet);
    const bool counts = step >= options.warm_up;
    for (Variant& variant : variants) variant.cross(rule->rows(), before, fleet, counts);
    if (!counts) continue;
    moved += moved_share(before, rule->rows()) / options.steps;
    peak += peak_over_mean(rule->rows(), fleet) / options.steps;
  }
  for (const Variant& variant : variants) {
    out.push_back(variant.result(family.name));
    out.back().first_moved = moved;
    out.back().peak = peak;
  }
}

Result<void> check_options(const SimulationOptions& options) {
  if (auto good = check_fleet_size(options.backends); !good) return good;
  if (options.steps == 0 || options.steps > simulated_steps_max || options.warm_up > simulated_steps_max) {
    return fail(ErrorKind::invalid, fmt::format("{} changes cannot be simulated", options.steps), {},
                fmt::format("use 1 to {}", simulated_steps_max));
  }
  return check_row_count(options.rows);
}

}  // namespace

Result<std::vector<SimulatedRule>> simulate(const Scenario& scenario, const SimulationOptions& options) {
  if (auto good = check_options(options); !good) return tl::unexpected(good.error());
  std::vector<SimulatedRule> out;
  for (const HopRuleFamily& family : hop_rules()) {
    const auto& wanted = options.rules;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), family.name) != wanted.end()) {
      play(family, scenario, options, out);
    }
  }
  return out;
}

}  // namespace guideway
