// Metrics: what a director tells Prometheus and a person's browser.
// What: a view of the running director, taken at the scrape, and its two texts: the Prometheus exposition
//       format and a plain status page.
// Why:  the counters lie in shared memory, so that a scrape reads them and asks no worker anything.
// Law:  prefix guideway_, base units (bytes, seconds), counters end in _total; a drop's reason is the name in
//       verdict.h; states are one sample per state, 0 or 1; digests are hex labels of an _info metric.
// Cost: one pass over services, backends, ports and next hops; flows are only counted for draining backends.
// Not:  serving them (metrics_server.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command/live.h"
#include "snapshot/ids.h"
#include "state/site_version.h"

namespace guideway {

struct PoolDigests {
  std::string pool;
  std::uint64_t site = 0, rows = 0;
};

struct PublishReport {
  std::uint64_t site_digest = 0;
  std::vector<PoolDigests> pools;
  std::chrono::nanoseconds build{0}, publish{0};  // of the newest snapshot
  std::chrono::nanoseconds journal{0};            // to make the newest version durable
  std::uint64_t published = 0;                    // snapshots since the start
  // By pool without a flow table: rows that a change of health took a stand-in from, since the start.
  std::map<std::string, std::uint64_t> rows_forgotten;
};

struct MetricsView {
  struct Backend {
    std::string pool, backend;
    std::uint32_t weight = 0;
    BackendState state = BackendState::active;
  };
  Epoch epoch{};
  PublishReport publish;
  std::vector<Backend> backends;
  StatsReport stats;
  std::vector<HealthReport> health;
  std::vector<PortReport> ports;
  std::vector<NextHopReport> next_hops;
  std::chrono::seconds uptime{0};
  std::size_t memory_bytes = 0;
};

// Any thread.
[[nodiscard]] MetricsView metrics_view(Live& live, const SiteVersion& version, PublishReport publish);

// Any thread. Valid whatever the names hold; label values are escaped.
[[nodiscard]] std::string metrics_text(const MetricsView& view);
[[nodiscard]] std::string status_page(const MetricsView& view);

}  // namespace guideway
