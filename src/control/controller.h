// Controller: the one place where a director's site changes and snapshots are made.
// What: runs changes one at a time against the store; a change is checked, planned, built, journalled, told to the
//       listeners and published, in this order, and answered when the workers have it. Health verdicts make new
//       rows of the same epoch. Commands that only read, or plan, work on one moment of the site, without the lock.
// Why:  a change that fails anywhere leaves everything as it was, so what can fail without trace (the build) comes
//       before what cannot be taken back (the journal).
// Cost: one lock; a drain of a pool with 65,537 rows holds it for some milliseconds.
// Not:  HTTP (api.h), health checks and neighbours themselves; the daemon wires them in.
// Thread: any, unless said.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <thread>
#include <vector>

#include "command/arguments.h"
#include "command/context.h"
#include "control/metrics.h"
#include "snapshot/publisher.h"
#include "state/snapshot_builder.h"
#include "state/store.h"

namespace guideway {

class Controller final : private Context {
 public:
  // Whether this host can serve the site (addresses of its own, above all). Called with the control lock held.
  using SiteCheck = std::function<Result<void>(const Site& site)>;
  // New backends, targets, addresses. Called with the control lock held, before the snapshot is published.
  using SiteListener = std::function<void(const std::shared_ptr<const SiteVersion>& version,
                                          const std::shared_ptr<const Snapshot>& snapshot)>;

  // What the old version had may go. Called with the control lock held, after the snapshot is published.
  using SiteFollower = std::function<void(const Site& site)>;

  // `builder` and `publisher` outlive it; the builder is used with the control lock held.
  Controller(Store store, DirectorConfig director, SnapshotBuilder& builder, Publisher& publisher);
  ~Controller() override;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Before start(), by the daemon.
  void set_live(Live& live) { live_ = &live; }
  void add_check(SiteCheck check) { checks_.push_back(std::move(check)); }
  void add_listener(SiteListener listener) { listeners_.push_back(std::move(listener)); }
  void add_follower(SiteFollower follower) { followers_.push_back(std::move(follower)); }

  // Checks, builds and publishes the store's version, and begins to follow the health.
  [[nodiscard]] Result<void> start();

  // One command, whole: the answer tells what the workers already do.
  [[nodiscard]] Result<nlohmann::json> run(const Arguments& arguments);
  // The health view has changed: the rows follow soon, several changes together. Returns at once.
  void health_changed();
  // Everything for a scrape; set_live() has been called.
  [[nodiscard]] MetricsView metrics();

 private:
  // Context; with the lock held.
  const SiteVersion& version() override { return store_.current(); }
  const HealthView& health() override;
  const DirectorConfig& director() override { return director_; }
  RecentRows& recent_rows() override { return *store_.recent_rows(); }
  Result<Plan> plan(const Change& change) override {
    return store_.plan(change, health(), live_flows(live_));
  }
  Result<Plan> plan_undo() override { return store_.plan_undo(health(), live_flows(live_)); }
  Result<Plan> commit(const Change& change, const CommitOptions& options) override;
  Result<Plan> undo(const CommitOptions& options) override;
  Live* live() override { return live_; }

  Result<nlohmann::json> read(const Arguments& arguments);
  [[nodiscard]] HealthView live_health() const;
  Result<Plan> carry_out(Result<Plan> plan, const CommitOptions& options);
  Result<Plan> make_durable(Plan plan, const CommitOptions& options);
  void tell(const std::shared_ptr<const Snapshot>& snapshot);
  Result<void> check(const Site& site) const;
  Result<std::shared_ptr<const Snapshot>> build(const SiteVersion& version, const HealthView& view);
  void publish(std::shared_ptr<const Snapshot> snapshot, HealthView view);
  void follow_view();  // rebuilds when the view is not the published one
  void follow_health();

  Store store_;
  DirectorConfig director_;
  SnapshotBuilder& builder_;
  Publisher& publisher_;
  Live* live_ = nullptr;
  std::vector<SiteCheck> checks_;
  std::vector<SiteListener> listeners_;
  std::vector<SiteFollower> followers_;

  std::mutex mutex_;   // the control lock; guards what stands above and below
  HealthView health_;  // of the present command
  HealthView published_view_;
  PublishReport report_;  // without digests

  std::mutex wake_mutex_;  // never taken while waiting for the control lock; guards the two flags
  std::condition_variable wake_;
  bool health_dirty_ = false;
  bool stopping_ = false;
  std::thread follower_;
};

}  // namespace guideway
