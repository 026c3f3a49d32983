// Simulation: how many connections break, by rule, while a fleet changes.
// What: plays a scenario for every rule and every setting (flow table off and on; one director, or two of which one is
//       late) and counts lost flows per million crossings: a flow crosses each change that it lives through.
// Why:  a rule is worth what it breaks; the same changes, the same flows, side by side.
// Cost: about ten seconds of processor time a scenario with the defaults, by rows and steps.
// Not:  single packets or times; the lab has them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tables/simulation/flows.h"

namespace guideway {

inline constexpr std::array all_flow_settings{FlowSetting{false, 1}, FlowSetting{false, 2},
                                              FlowSetting{true, 1}, FlowSetting{true, 2}};

struct SimulationOptions {
  std::size_t backends = 100;         // simulated_backends_min to simulated_backends_max
  std::uint32_t rows = rows_default;  // a prime; GLB's rule has the power of two below
  std::uint32_t steps = 40;           // changes that count, 1 to simulated_steps_max
  std::uint32_t warm_up = 20;         // changes before, so that flows of all ages are there
  std::uint64_t seed = 1;             // of the changes and of the rows
  std::vector<FlowSetting> settings{all_flow_settings.begin(), all_flow_settings.end()};
  std::vector<std::string_view> rules;  // families; empty: all
};

inline constexpr std::uint32_t simulated_steps_max = 1000;

struct SimulatedRule {
  std::string_view rule;
  std::uint32_t hops = 0;
  std::vector<double> lost_per_million;  // [settings]
  double first_moved = 0;                // share of rows whose first hop another took, per change
  double peak = 0;  // rows of the fullest first hop over the mean, on average after a change
};

// Refused: sizes out of range, a row count that is no prime.
[[nodiscard]] Result<std::vector<SimulatedRule>> simulate(const Scenario& scenario,
                                                          const SimulationOptions& options);

}  // namespace guideway
