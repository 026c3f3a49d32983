// Director: the daemon's state and data plane without ports or workers, for replay.
// What: a site store in memory, snapshot builder, counters, flow table and the one pipeline. What would be a
//       neighbour is a fixed MAC: 02:67 and the last four bytes of the backend's address.
// Not:  words of commands (at_command.h), captures.
// Thread: one.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dataplane/pipeline.h"
#include "guideway/result.h"
#include "state/director_config.h"
#include "state/flow_witness.h"
#include "state/snapshot_builder.h"
#include "state/store.h"

namespace guideway {

struct BackendName {
  std::string pool, backend;
};

// What replay takes where no director.toml is given.
[[nodiscard]] DirectorConfig replay_defaults();

class ReplayDirector {
 public:
  // Packets come in by the first port of `config`; they leave by the first one with a next_hop_mac, else by the
  // last.
  [[nodiscard]] static Result<std::unique_ptr<ReplayDirector>> start(Site site, DirectorConfig config,
                                                                     rte_mempool* mbufs);

  [[nodiscard]] const DirectorConfig& config() const { return config_; }
  [[nodiscard]] Store& store() { return store_; }
  [[nodiscard]] const HealthView& health() const { return health_; }
  // Those that are down by name, whatever id they had when. What was never set is not: nothing is known against it.
  [[nodiscard]] std::set<BackendId> down_backends() const;
  void set_health(const std::string& pool, const std::string& backend, std::optional<Health> value);
  // Builds and publishes what the store and the health view hold now.
  [[nodiscard]] Result<void> publish(std::chrono::milliseconds now);

  // Of a backend of the present site.
  [[nodiscard]] FlowCount open_flows(const std::string& pool, const std::string& backend,
                                     std::chrono::milliseconds now) const;

  // The burst's arrays stay readable until the next run.
  void run(Burst& burst, std::uint32_t now_ms, Outputs& out);
  [[nodiscard]] bool readmit(Burst& burst, std::uint32_t now_ms) { return pipeline_.readmit(burst, now_ms); }
  void sent(Outbox& box) { pipeline_.sent(box, box.size, Verdict::drop_tx_full); }

  [[nodiscard]] const WorkerCounters& counters() const { return counters_; }
  [[nodiscard]] const FlowTable& flows() const { return flows_.table; }
  // Of every id that a snapshot of this run had.
  [[nodiscard]] const std::map<BackendId, BackendName>& backend_names() const { return backend_names_; }
  [[nodiscard]] const std::map<ServiceId, std::string>& service_names() const { return service_names_; }

 private:
  ReplayDirector(Store store, DirectorConfig config, rte_mempool* mbufs);
  void fill_ports();
  void resolve(const Snapshot& snapshot);
  void remember_names(const Snapshot& snapshot);

  DirectorConfig config_;
  Store store_;
  HealthView health_;
  NextHops next_hops_;
  SnapshotBuilder builder_;
  std::shared_ptr<const Snapshot> snapshot_;
  PortTable ports_;
  std::uint8_t egress_ = 0;
  WorkerCounters counters_;
  FlowState flows_;
  FlowWitness witness_{true};
  Pipeline pipeline_;
  std::map<BackendId, BackendName> backend_names_;
  std::map<ServiceId, std::string> service_names_;
};

}  // namespace guideway
