// Live director: what the running daemon can tell of itself, gathered from its parts when asked.
// What: adds up the workers' counters, counts flows, and asks ports, neighbours and health.
// Cost: readers pay; no worker is asked anything.
// Thread: any.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "command/live.h"
#include "control/health.h"
#include "control/neighbours.h"
#include "daemon/live_flow_tables.h"
#include "io/ports.h"
#include "io/workers.h"
#include "snapshot/snapshot.h"
#include "state/flow_witness.h"
#include "state/site_version.h"

namespace guideway {

struct LiveParts {
  const Ports& ports;
  Workers& workers;
  const Neighbours& neighbours;
  HealthChecker& health;
};

class LiveDirector final : public Live {
 public:
  // `first_start`: this director has served nothing before (FlowWitness).
  LiveDirector(const LiveParts& parts, bool first_start)
      : parts_(parts), flow_tables_(parts.workers), witness_(first_start) {}

  // The site whose names the reports use, and what was built from it.
  void site_changed(std::shared_ptr<const SiteVersion> version, std::shared_ptr<const Snapshot> snapshot);

  StatsReport stats() override;
  std::vector<HealthReport> health() override { return parts_.health.reports(); }
  Result<void> set_health(const std::string& pool, const std::string& backend,
                          std::optional<Health> value) override;
  std::vector<PortReport> ports() override;
  std::vector<NextHopReport> next_hops() override { return parts_.neighbours.reports(); }
  SharedHealthView health_view() override { return parts_.health.view(); }
  FlowsLeft flows_left(const std::string& pool, const std::string& backend) override;
  FlowTables& flow_tables() override { return flow_tables_; }
  std::optional<UnseenFlows> unseen_flows(const std::string& pool, const std::string& backend) override;
  std::chrono::seconds uptime() override;
  MemoryReport memory() override;

 private:
  // A site and its snapshot; both empty until the first.
  struct Published {
    std::shared_ptr<const SiteVersion> version;
    std::shared_ptr<const Snapshot> snapshot;
  };
  [[nodiscard]] Published published() const;
  [[nodiscard]] BackendStats backend_stats(const Pool& pool, const Backend& backend, BackendId id) const;
  [[nodiscard]] ServiceStats service_stats(const SnapshotService& service) const;
  // What `ask` answers about a backend of the published site; nothing for any other.
  template <class Answer>
  Answer of_backend(const std::string& pool, const std::string& backend,
                    Answer (LiveDirector::*ask)(const Pool&, const Backend&, BackendId) const) const;
  [[nodiscard]] FlowsLeft count_flows(const Pool& pool, const Backend& backend, BackendId id) const;
  [[nodiscard]] std::optional<UnseenFlows> unseen_of(const Pool& pool, const Backend& backend,
                                                     BackendId id) const;

  LiveParts parts_;
  LiveFlowTables flow_tables_;
  mutable std::mutex mutex_;  // guards the next two
  Published published_;
  FlowWitness witness_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace guideway
