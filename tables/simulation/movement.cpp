#include "tables/simulation/movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tables/members.h"
#include "tables/simulation/hop_rules.h"

namespace guideway {
namespace {

using RowCounts = std::vector<std::uint32_t>;  // [BackendNumber]

bool is_draining(const SimulatedBackend& backend) { return backend.state == BackendState::draining; }
bool is_down(const SimulatedBackend& backend) { return backend.health == Health::down; }
bool is_serving(const SimulatedBackend& backend) { return backend.takes_new(); }

constexpr std::size_t away_max = 2;
constexpr std::uint64_t kinds_drawn = 7;  // those without others beside

// The fleet stays within a tenth of its size.
class History {
 public:
  explicit History(const MovementOptions& options) : size_(options.backends), random_(options.seed) {}

  FleetChange step(Fleet& fleet) {
    for (;;) {
      const auto kind = static_cast<FleetChange>(random_() % kinds_drawn);
      removed_down_ = false;
      if (happens(kind, fleet)) return named(kind, fleet);
    }
  }

 private:
  [[nodiscard]] FleetChange named(FleetChange kind, const Fleet& fleet) const {
    const bool beside = serving(fleet) < fleet.backends().size();
    switch (kind) {
      case FleetChange::add:
        return beside ? FleetChange::add_beside : kind;
      case FleetChange::remove:
        if (removed_down_) return beside ? FleetChange::remove_down_beside : FleetChange::remove_down;
        return beside ? FleetChange::remove_beside : kind;
      case FleetChange::weigh:
        return beside ? FleetChange::weigh_beside : kind;
      default:
        return kind;
    }
  }

  bool happens(FleetChange kind, Fleet& fleet) {
    const auto backends = fleet.backends();
    switch (kind) {
      case FleetChange::drain:
        return may_leave(fleet) && change_one(fleet, is_serving, [&](std::size_t i) { fleet.drain(i, 0); });
      case FleetChange::undrain:
        return change_one(fleet, is_draining, [&](std::size_t i) { fleet.undrain(i); });
      case FleetChange::fail:
        return may_leave(fleet) &&
               change_one(fleet, is_serving, [&](std::size_t i) { fleet.check_says(i, Health::down); });
      case FleetChange::recover:
        return change_one(fleet, is_down, [&](std::size_t i) { fleet.check_says(i, Health::up); });
      case FleetChange::add:
        if (backends.size() * 10 >= size_ * 11) return false;
        fleet.add(some_weight(fleet));
        return true;
      case FleetChange::remove:
        if (backends.size() * 10 <= size_ * 9 || serving(fleet) <= 2) return false;
        return change_one(
            fleet, [](const SimulatedBackend&) { return true; },
            [&](std::size_t i) {
              removed_down_ = is_down(fleet.backends()[i]);
              fleet.remove(i);
            });
      default:
        break;
    }
    const std::size_t index = random_() % backends.size();
    const auto weight = static_cast<std::uint32_t>(50 + random_() % 151);
    if (weight == backends[index].weight) return false;
    fleet.weigh(index, weight);
    return true;
  }

  static std::size_t serving(const Fleet& fleet) {
    return static_cast<std::size_t>(
        std::count_if(fleet.backends().begin(), fleet.backends().end(), is_serving));
  }

  bool may_leave(const Fleet& fleet) const {
    const std::size_t away = fleet.backends().size() - serving(fleet);
    return away < away_max && serving(fleet) > 2;
  }

  // A newcomer weighs as much as somebody who is there.
  std::uint32_t some_weight(const Fleet& fleet) {
    return fleet.backends()[random_() % fleet.backends().size()].weight;
  }

  template <class Wanted, class Do>
  bool change_one(const Fleet& fleet, Wanted wanted, Do change) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < fleet.backends().size(); ++i) {
      if (wanted(fleet.backends()[i])) found.push_back(i);
    }
    if (found.empty()) return false;
    change(found[random_() % found.size()]);
    return true;
  }

  std::size_t size_;
  bool removed_down_ = false;
  std::mt19937_64 random_;
};

RowCounts counts_of(std::span<const RowHops> rows, std::size_t backends) {
  RowCounts out(backends);
  for (const RowHops& row : rows) ++out[row[0]];
  return out;
}

std::size_t numbers_used(const Fleet& fleet) { return fleet.backends().back().number + std::size_t{1}; }

void count_change(MovedByKind& out, std::span<const RowHops> before, std::span<const RowHops> now) {
  std::size_t numbers = 0;
  std::uint32_t moved = 0, demanded = 0;
  for (std::size_t row = 0; row < now.size(); ++row) {
    moved += before[row][0] != now[row][0] ? 1 : 0;
    numbers = std::max<std::size_t>({numbers, before[row][0] + 1U, now[row][0] + 1U});
  }
  const RowCounts had = counts_of(before, numbers), has = counts_of(now, numbers);
  for (std::size_t i = 0; i < numbers; ++i) demanded += had[i] - std::min(had[i], has[i]);
  const auto all = static_cast<double>(now.size());
  ++out.times;
  out.moved += moved / all;
  out.needless += (moved - demanded) / all;
  out.needless_rows_max = std::max(out.needless_rows_max, moved - demanded);
}

void everybody_back(Fleet& fleet) {
  for (std::size_t i = 0; i < fleet.backends().size(); ++i) {
    fleet.undrain(i);
    fleet.check_says(i, Health::up);
  }
}

void judge_shares(MovedByRule& out, std::span<const RowHops> rows, const Fleet& fleet) {
  const auto weight_of = [&](const SimulatedBackend& backend) { return out.weights ? backend.weight : 1.0; };
  double sum = 0;
  for (const SimulatedBackend& backend : fleet.backends()) sum += weight_of(backend);
  const RowCounts has = counts_of(rows, numbers_used(fleet));
  out.minimum = static_cast<double>(rows.size());
  for (const SimulatedBackend& backend : fleet.backends()) {
    const double due = static_cast<double>(rows.size()) * weight_of(backend) / sum;
    out.peak = std::max(out.peak, has[backend.number] / due);
    out.minimum = std::min(out.minimum, has[backend.number] / due);
    out.rows_off = std::max(out.rows_off, std::abs(has[backend.number] - due));
  }
}

MovedByRule play_history(const HopRuleFamily& family, const MovementOptions& options) {
  Fleet fleet(options.backends, options.weights);
  History history(options);
  const auto rule = family.make(options.seed, options.rows);
  rule->change(fleet);
  MovedByRule out{.rule = family.name, .weights = family.weights};
  for (std::uint32_t step = 0; step < options.changes; ++step) {
    const FleetChange kind = history.step(fleet);
    if ((kind == FleetChange::weigh || kind == FleetChange::weigh_beside) && !family.weights) continue;
    const std::vector<RowHops> before = rule->rows();
    rule->change(fleet);
    count_change(out.by[static_cast<std::size_t>(kind)], before, rule->rows());
  }
  for (MovedByKind& kind : out.by) {
    if (kind.times == 0) continue;
    kind.moved /= kind.times;
    kind.needless /= kind.times;
  }
  everybody_back(fleet);
  rule->change(fleet);
  judge_shares(out, rule->rows(), fleet);
  return out;
}

}  // namespace

Result<std::vector<MovedByRule>> measure_movement(const MovementOptions& options) {
  if (auto good = check_fleet_size(options.backends); !good) return tl::unexpected(good.error());
  if (options.changes == 0 || options.changes > moved_changes_max) {
    return fail(ErrorKind::invalid, fmt::format("{} changes cannot be played", options.changes), {},
                fmt::format("use 1 to {}", moved_changes_max));
  }
  if (auto good = check_row_count(options.rows); !good) return tl::unexpected(good.error());
  std::vector<MovedByRule> out;
  for (const HopRuleFamily& family : hop_rules()) {
    if (family.own_firsts) out.push_back(play_history(family, options));
  }
  return out;
}

}  // namespace guideway
