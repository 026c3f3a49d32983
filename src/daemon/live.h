// Live director: what the running daemon can tell of itself, gathered from its parts when asked.
// What: adds up the workers' counters, counts flows, and asks ports, neighbours and health.
// Cost: readers pay; no worker is asked anything.
// Thread: with the control lock held, as Live says; so is site_changed().
#pragma once

#include <chrono>

#include "command/live.h"
#include "control/health.h"
#include "control/neighbours.h"
#include "io/ports.h"
#include "io/workers.h"
#include "state/site_version.h"
#include "state/snapshot_builder.h"

namespace guideway {

struct LiveParts {
  const Ports& ports;
  const Workers& workers;
  const SnapshotBuilder& builder;
  const Neighbours& neighbours;
  HealthChecker& health;
};

class LiveDirector final : public Live {
 public:
  explicit LiveDirector(const LiveParts& parts) : parts_(parts) {}

  // Control: the site whose names the reports use.
  void site_changed(const SiteVersion& version) { site_ = version.site; }

  StatsReport stats() override;
  std::vector<HealthReport> health() override { return parts_.health.reports(); }
  Result<void> set_health(const std::string& pool, const std::string& backend,
                          std::optional<Health> value) override;
  std::vector<PortReport> ports() override;
  std::vector<NextHopReport> next_hops() override { return parts_.neighbours.reports(); }
  HealthView health_view() override { return parts_.health.view(); }
  std::uint64_t live_flows(const std::string& pool, const std::string& backend) override;
  std::chrono::seconds uptime() override;
  std::size_t memory_bytes() override;

 private:
  BackendStats backend_stats(const std::string& pool, const Backend& backend);
  ServiceStats service_stats(const std::string& service);

  LiveParts parts_;
  Site site_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace guideway
