// Health: which backends answer.
// What: checks every backend of every pool with a check, at its own moment of the interval; `rise` passes in a
//       row make a backend up, `fall` failures in a row make it down, the first result of all decides at once.
//       A manual override stands above the checks.
// Why:  hysteresis and spread keep flapping servers and bursts of probes from shaking the rows.
// Cost: one thread that sleeps; one connection a backend and interval; at most parallel_max at a time.
// Not:  what a verdict does to the rows (contract 1, items 5 and 6), nor whether the backend takes traffic by
//       its state: draining and disabled ones are checked as well. Overrides do not survive a restart.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "command/live.h"
#include "guideway/address.h"
#include "guideway/result.h"
#include "state/plan.h"
#include "state/site.h"

namespace guideway {

struct HealthTarget {
  std::string pool, backend;
  IpAddress address;
  HealthCheck check;
};

// One target per backend of the site.
[[nodiscard]] std::vector<HealthTarget> health_targets(const Site& site);

struct HealthChange {
  std::string pool, backend;
  Health verdict = Health::unknown;  // what the rows are to use from now on
  std::string reason;                // "connection refused", "check passed", "set by hand"
};

struct HealthOptions {
  std::size_t parallel_max = 1024;  // also kept below half of the limit of open files
};

class HealthChecker {
 public:
  // All changes of one turn together. Called by the checker's thread with no lock held; may call any method
  // here but the destructor. (A backend that update() left out is not told: the caller knows.)
  using Callback = std::function<void(std::span<const HealthChange>)>;

  [[nodiscard]] static Result<std::unique_ptr<HealthChecker>> start(Callback on_change,
                                                                    HealthOptions options = {});
  ~HealthChecker();

  // Any thread; returns at once. What a target had stays: the verdict and counts when nothing changed, the
  // verdict alone when its check changed; a new address starts over.
  void update(std::vector<HealthTarget> targets);
  // Any thread: up, down, or nullopt for what the checks say. not_found for a backend that is no target.
  [[nodiscard]] Result<void> set_override(const std::string& pool, const std::string& backend,
                                          std::optional<Health> value);

  // Any thread. Verdicts after the override.
  [[nodiscard]] SharedHealthView view() const;
  [[nodiscard]] std::vector<HealthReport> reports() const;
  // Any thread. True from when every target of the last update with a check has a result.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] bool wait_ready(std::chrono::milliseconds limit);
  // Any thread. Pools of three or more checked backends that all went down within one interval: more likely
  // the director's own fault (its network, its descriptors) than theirs. none_healthy = "all" keeps serving.
  [[nodiscard]] std::vector<std::string> alarms() const;

 private:
  struct Impl;
  explicit HealthChecker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
