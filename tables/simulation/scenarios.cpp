// Scenarios: what happens to fleets, one change after the other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tables/simulation/fleet.h"

namespace guideway {
namespace {

// One comes or one goes undrained, the fleet within a tenth of its size.
void churn(Fleet& fleet, std::size_t size, std::uint32_t, std::mt19937_64& random) {
  const std::size_t now = fleet.backends().size();
  const bool grow = now * 10 <= size * 9 || (now * 10 < size * 11 && random() % 2 == 0);
  grow ? fleet.add() : fleet.remove(random() % now);
}

// As an apply of many lines: a twentieth of the fleet, two at least, in one change.
void several(Fleet& fleet, std::size_t size, std::uint32_t step, std::mt19937_64& random) {
  for (std::size_t i = 0; i < std::max<std::size_t>(2, size / 20); ++i) churn(fleet, size, step, random);
}

bool serves(const SimulatedBackend& backend) { return backend.takes_new(); }

// Any of those that `wanted` names; as many as there are backends if there is none.
template <class Wanted>
std::size_t pick(const Fleet& fleet, std::mt19937_64& random, Wanted wanted) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < fleet.backends().size(); ++i) {
    if (wanted(fleet.backends()[i])) found.push_back(i);
  }
  return found.empty() ? fleet.backends().size() : found[random() % found.size()];
}

// Replacement with care: one drains, a new one comes, and the one that has drained longest goes once a twentieth of
// the fleet drains.
void drains(Fleet& fleet, std::size_t size, std::uint32_t step, std::mt19937_64& random) {
  const auto draining = [](const SimulatedBackend& b) { return b.state == BackendState::draining; };
  if (step % 3 == 0) {
    const std::size_t next = pick(fleet, random, serves);
    if (next < fleet.backends().size()) fleet.drain(next, step);
  } else if (step % 3 == 1) {
    fleet.add();
  } else {
    const auto backends = fleet.backends();
    const auto oldest = std::min_element(backends.begin(), backends.end(), [&](const auto& a, const auto& b) {
      return std::pair(!draining(a), a.drained_at) < std::pair(!draining(b), b.drained_at);
    });
    const auto count = std::count_if(backends.begin(), backends.end(), draining);
    if (static_cast<std::size_t>(count) * 20 >= size) {
      fleet.remove(static_cast<std::size_t>(oldest - backends.begin()));
    }
  }
}

// One backend after the other is drained, stopped and started.
void rolling(Fleet& fleet, std::size_t, std::uint32_t step, std::mt19937_64&) {
  const std::size_t index = step / 3 % fleet.backends().size();
  if (step % 3 == 0) fleet.drain(index, step);
  if (step % 3 == 1) fleet.stop(index);
  if (step % 3 == 2) {
    fleet.start(index);
    fleet.undrain(index);
  }
}

// Checks that lie: down is said of backends that serve on; about two of them at any time, never half of the fleet.
void flaps(Fleet& fleet, std::size_t, std::uint32_t, std::mt19937_64& random) {
  for (std::size_t i = 0; i < fleet.backends().size(); ++i) {
    if (fleet.backends()[i].health == Health::down && random() % 2 == 0) fleet.check_says(i, Health::up);
  }
  const auto backends = fleet.backends();
  const auto serving = static_cast<std::size_t>(std::count_if(backends.begin(), backends.end(), serves));
  if (serving * 2 > backends.size() + 1) fleet.check_says(pick(fleet, random, serves), Health::down);
}

constexpr std::array all_scenarios{
    Scenario{"churn", "one backend comes or goes undrained, again and again", churn},
    Scenario{"several", "a twentieth of the backends come and go in one change, two at least", several},
    Scenario{"drains", "one drains, a new one comes, the one that drained longest goes", drains},
    Scenario{"rolling", "one after the other is drained, stopped and started", rolling},
    Scenario{"flaps", "health checks say down, and up again, of backends that serve on", flaps},
};

}  // namespace

std::span<const Scenario> scenarios() { return all_scenarios; }

Result<const Scenario*> find_scenario(std::string_view name) {
  const auto found = std::find_if(all_scenarios.begin(), all_scenarios.end(),
                                  [&](const Scenario& one) { return one.name == name; });
  if (found != all_scenarios.end()) return &*found;
  std::vector<std::string_view> names;
  for (const Scenario& known : all_scenarios) names.push_back(known.name);
  return fail(ErrorKind::not_found, fmt::format("\"{}\" is no scenario", name), {},
              fmt::format("there are {}", fmt::join(names, ", ")));
}

}  // namespace guideway
