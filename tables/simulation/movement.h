// Movement: which rows each kind of change moves, by rule, over a long random history.
// What: plays one history for every rule: backends drain, fail, come back, are added, removed and weighed, up to two of
//       them away at any time. Counts the rows that send new flows elsewhere after each change, and among them those
//       that did not have to; in the end everybody is back, and the shares are set against the exact ones.
// Why:  a row that moves without need is a row's worth of connections at stake for nothing.
// How:  the fewest moves from the counts before to the counts after are what all backends together have less; what
//       moved beyond that moved needlessly. Each rule is held to its own counts, so none is blamed for its balance.
//       Deals while others are away, or of one that is down, stand apart: a deal knows seats, not whom health checks
//       put in for their holders, so rows of a stand-in may go to another.
// Cost: by changes: a thousand take half a minute of processor time at ten backends.
// Not:  connections; simulation.h counts those.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "guideway/result.h"

namespace guideway {

enum class FleetChange : std::uint8_t {
  drain,
  undrain,
  fail,
  recover,
  add,
  remove,
  weigh,
  remove_down,
  // The same while others are away.
  add_beside,
  remove_beside,
  remove_down_beside,
  weigh_beside,
};
inline constexpr std::array<std::string_view, 12> fleet_change_names{"drain",
                                                                     "undrain",
                                                                     "fail",
                                                                     "recover",
                                                                     "add",
                                                                     "remove",
                                                                     "weight",
                                                                     "remove one that is down",
                                                                     "add, others away",
                                                                     "remove, others away",
                                                                     "remove one down, others away",
                                                                     "weight, others away"};

struct MovementOptions {
  std::size_t backends = 100;          // simulated_backends_min to simulated_backends_max
  std::vector<std::uint32_t> weights;  // in turn; 100 where none are given
  std::uint32_t rows = 65537;          // a prime; GLB's rule has the power of two below
  std::uint32_t changes = 1000;        // 1 to moved_changes_max
  std::uint64_t seed = 1;              // of the changes and of the rows
};

inline constexpr std::uint32_t moved_changes_max = 100'000;

struct MovedByKind {
  std::uint32_t times = 0;  // 0: the history has none, or the rule has no weights
  double moved = 0;         // rows a change, as a share of all
  double needless = 0;      // of them those that did not have to, likewise
  std::uint32_t needless_rows_max = 0;
};

struct MovedByRule {
  std::string_view rule;
  bool weights = true;                                    // if not, equal shares are what is due
  std::array<MovedByKind, fleet_change_names.size()> by;  // [FleetChange]
  // In the end, with everybody back: rows of the fullest and of the emptiest backend over what it is due, and how many
  // rows a backend is off at most. Below one row no share can be more exact.
  double peak = 0, minimum = 0, rows_off = 0;
};

// Refused: sizes out of range, a row count that is no prime.
[[nodiscard]] Result<std::vector<MovedByRule>> measure_movement(const MovementOptions& options);

}  // namespace guideway
