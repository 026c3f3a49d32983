// Live: what a running director can tell and do beyond its site; absent for offline verbs.
// What: the interface between the commands and the daemon's parts (counters, health, neighbours, ports,
//       flows).
// Thread: any; implemented by the daemon's control side.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/flow_tables.h"
#include "guideway/result.h"
#include "snapshot/next_hops.h"
#include "snapshot/verdict.h"
#include "state/live_flows.h"
#include "state/plan.h"

namespace guideway {

// Flows of a backend in the workers' tables.
struct FlowsLeft {
  std::uint64_t open = 0;
  std::uint64_t closing = 0;          // ended by a FIN or RST and quiet since; only their entries are left
  std::optional<UnseenFlows> unseen;  // there may be more, in no table
};
struct BackendStats {
  std::string pool, backend;
  std::uint64_t packets = 0, bytes = 0, new_flows = 0;
  std::optional<FlowsLeft> flows_left;  // of draining backends
};
struct ServiceStats {
  std::string service;
  std::uint64_t packets = 0, bytes = 0, new_flows = 0, unmatched = 0;
};
struct WorkerStats {
  unsigned lcore = 0;
  std::uint64_t packets_in = 0, bytes_in = 0, bursts = 0, polls_idle = 0, flows_created = 0,
                flows_evicted = 0, flows_refused = 0, strangers = 0, host_frames = 0, host_frames_lost = 0;
  std::uint64_t flow_entries = 0, flow_room = 0;  // of its flow table
};

struct StatsReport {
  std::uint64_t packets_in = 0, bytes_in = 0;
  std::array<std::uint64_t, verdict_count> packets{}, bytes{};
  std::vector<ServiceStats> services;
  std::vector<BackendStats> backends;
  std::vector<WorkerStats> workers;
};

struct HealthReport {
  std::string pool, backend;
  Health verdict = Health::unknown;      // what the rows use, after the override
  std::optional<Health> override_value;  // health set
  Health checked = Health::unknown;      // what the checks say
  std::string last_error;                // "connection refused"; empty when the last check passed
  std::chrono::milliseconds since_change{0};
  bool pool_alarm = false;  // all backends of the pool went down at once: more likely the checker's own fault
};

// Where an af_xdp port's program sent the interface's packets.
struct SteeredPackets {
  std::uint64_t to_socket = 0, to_kernel = 0, no_socket = 0;
  std::uint64_t services_left_out = 0;  // now: services that its list does not hold, so that they get nothing
};

struct PortReport {
  std::string name, device, driver, kernel_interface;
  MacAddress mac{};
  bool link_up = false;
  std::uint16_t mtu = 0, queues = 0;
  int socket = 0;
  std::uint64_t rx_packets = 0, tx_packets = 0, rx_missed = 0, rx_errors = 0, tx_errors = 0;
  std::optional<SteeredPackets> steered;
};

struct NextHopReport {
  std::string address;
  NextHop next_hop;
  std::string via;
};

// What this process holds, and what of it grows with flows and rows.
struct MemoryReport {
  std::size_t resident_bytes = 0;
  // Of all workers' flow tables: room, and what is reserved for it; a page is taken when a flow comes to it.
  std::size_t flows = 0, flow_bytes = 0;
  std::size_t rows = 0, row_bytes = 0;  // of the published pools, as the workers read them
};

class Live {
 public:
  virtual ~Live() = default;
  virtual StatsReport stats() = 0;
  virtual std::vector<HealthReport> health() = 0;
  virtual Result<void> set_health(const std::string& pool, const std::string& backend,
                                  std::optional<Health> value) = 0;
  virtual std::vector<PortReport> ports() = 0;
  virtual std::vector<NextHopReport> next_hops() = 0;
  virtual SharedHealthView health_view() = 0;  // never null
  // Reads the whole tables: for draining backends, whose end somebody waits for.
  virtual FlowsLeft flows_left(const std::string& pool, const std::string& backend) = 0;
  virtual FlowTables& flow_tables() = 0;
  // Whether the backend may have flows in no table, and why; reads no table.
  virtual std::optional<UnseenFlows> unseen_flows(const std::string& pool, const std::string& backend) = 0;
  virtual std::chrono::seconds uptime() = 0;
  virtual MemoryReport memory() = 0;
};

// For plans; `live` (nullptr offline) must outlive it.
[[nodiscard]] inline LiveFlows live_flows(Live* live) {
  if (live == nullptr) return {};
  return {[live](const std::string& pool, const std::string& backend) {
            FlowsLeft left = live->flows_left(pool, backend);
            return FlowCount{left.open, left.unseen};
          },
          live->uptime()};
}

}  // namespace guideway
