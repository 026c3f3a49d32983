// Daemon: a running director, made of its parts.
// What: starts them in the order of who needs whom, and stops them in the opposite one.
// Thread: main.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "control/api.h"
#include "control/controller.h"
#include "control/health.h"
#include "control/metrics_server.h"
#include "control/neighbours.h"
#include "daemon/live.h"
#include "daemon/signals.h"
#include "guideway/result.h"
#include "io/eal.h"
#include "io/log.h"
#include "io/ports.h"
#include "io/publisher.h"
#include "io/workers.h"
#include "state/snapshot_builder.h"

namespace guideway {

class Daemon {
 public:
  // Refused: whatever of the host, the files or the devices does not fit; nothing is left behind then. A signal that says
  // to end is heard between the steps; serve() then comes back at once.
  [[nodiscard]] static Result<std::unique_ptr<Daemon>> start(const DirectorConfig& config,
                                                             const std::optional<Site>& seed,
                                                             const Signals& signals);
  ~Daemon();  // in order: no new commands, workers out of their loops, devices closed
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Frees old snapshots and follows devices' links until a signal says to end; answers with its name. An error: the
  // daemon cannot go on.
  [[nodiscard]] Result<std::string> serve();

 private:
  Daemon(DirectorConfig config, const Signals& signals) : config_(std::move(config)), signals_(signals) {}
  Result<void> claim(const std::optional<Site>& seed);
  Result<void> open_devices();
  Result<void> start_control(const std::optional<Site>& seed);
  Result<void> start_traffic();
  Result<void> start_listeners();
  void make_first_rows(const Store& store);
  bool interrupted();
  // Whether it came true within the time, and before a signal said to end.
  template <class Wait>
  bool within(std::chrono::milliseconds limit, Wait wait);
  void site_changed(const std::shared_ptr<const SiteVersion>& version);
  void health_changed();

  DirectorConfig config_;
  const Signals& signals_;
  std::string signal_;             // that said to end
  std::atomic<bool> lost_{false};  // a version is on disk and cannot be carried out
  std::optional<EalSettings> eal_settings_;
  std::optional<ApiSocket> socket_;
  std::optional<Fd> metrics_socket_;
  std::vector<Fd> interface_claims_;
  std::optional<Journal> journal_;  // until the store takes it
  DpdkLog log_;
  std::optional<Eal> eal_;
  NextHops next_hops_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<QsbrPublisher> publisher_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<SnapshotBuilder> builder_;
  std::unique_ptr<Neighbours> neighbours_;
  std::vector<RowTable::Shared> first_rows_;  // until the first snapshot is built
  std::shared_ptr<const SiteVersion>
      followed_;                     // by neighbours_ and health_; under the controller's lock, as the next
  std::vector<IpAddress> backends_;  // of followed_, sorted
  std::unique_ptr<HealthChecker> health_;
  std::unique_ptr<LiveDirector> live_;
  std::unique_ptr<Controller> controller_;
  std::mutex verdicts_mutex_;  // the health checker's thread against the end of the controller
  bool verdicts_wanted_ = false;
  std::unique_ptr<Api> api_;
  std::unique_ptr<MetricsServer> metrics_;
};

}  // namespace guideway
