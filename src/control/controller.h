// Controller: the one place where a director's site changes and snapshots are made.
// What: a change is planned, checked, built, journalled, told to the listeners and published, in this order, and answered
//       when the workers have it. One that breaks nobody whatever its rows are (a drain, nearly always) is on its way to
//       the disk before they are made, and its plan is told when it is in force. Health verdicts make new rows of the same
//       epoch. Commands work on one moment of the site, without the lock; only what comes after a plan takes it, and a
//       plan that was overtaken by another change is made again.
// Why:  a change that fails anywhere leaves everything as it was, so what can be refused comes before what cannot be taken
//       back. Planning makes the rows, which takes seconds in a site of a hundred pools: neither a drain nor a health
//       verdict waits for it. A flush of the disk is as long as all the rest of a drain: the two go side by side.
// Cost: one lock; the rows of a plan are at hand when it is taken, so it is held for the copies, the disk, the listeners,
//       and of a drain for one pool's rows.
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
#include "command/live.h"
#include "control/change_log.h"
#include "control/metrics.h"
#include "snapshot/publisher.h"
#include "state/director_config.h"
#include "state/snapshot_builder.h"
#include "state/store.h"

namespace guideway {

class Controller final {
 public:
  // Whether this host can serve the site (addresses of its own, above all). `good`: the one that it serves, empty at the
  // start; what the two share need not be looked at again. Called with the control lock held.
  using SiteCheck = std::function<Result<void>(const Site& site, const Site& good)>;
  // New backends, targets, addresses. Called with the control lock held, before the snapshot is published.
  using SiteListener = std::function<void(const std::shared_ptr<const SiteVersion>& version,
                                          const std::shared_ptr<const Snapshot>& snapshot)>;

  // What the old version had may go. Called with the control lock held, after the snapshot is published.
  using SiteFollower = std::function<void(const Site& site)>;

  // `builder` and `publisher` outlive it; the builder is used with the control lock held.
  Controller(Store store, DirectorConfig director, SnapshotBuilder& builder, Publisher& publisher);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Before start(), by the daemon.
  void set_live(Live& live) { live_ = &live; }
  void add_check(SiteCheck check) { checks_.push_back(std::move(check)); }
  void add_listener(SiteListener listener) { listeners_.push_back(std::move(listener)); }
  void add_follower(SiteFollower follower) { followers_.push_back(std::move(follower)); }

  // Told once, when a version is on disk and cannot be carried out: the process is to end, and to start with it.
  void set_give_up(std::function<void()> give_up) { give_up_ = std::move(give_up); }

  // Checks, builds and publishes the store's version, and begins to follow the health.
  [[nodiscard]] Result<void> start();

  // One command, whole: the answer tells what the workers already do.
  [[nodiscard]] Result<nlohmann::json> run(const Arguments& arguments);
  // The health view has changed: the rows follow soon, several changes together. Returns at once.
  void health_changed();
  // Everything for a scrape; set_live() has been called.
  [[nodiscard]] MetricsView metrics();

 private:
  class Attempt;

  [[nodiscard]] const SiteVersion& version() const { return store_.current(); }
  Result<nlohmann::json> read(const Arguments& arguments);
  Result<nlohmann::json> change(const Arguments& arguments);
  [[nodiscard]] SharedHealthView live_health() const;
  // With the lock held, like all that follows.
  Result<Plan> carry_out(Plan plan, const CommitOptions& options);
  // What can be refused comes before what is on its way to the disk, where a crash may find it. A step that breaks nobody has
  // the backends that there are, so that nothing but a lack of memory is in the way of its snapshot: it is built while the
  // disk works.
  enum class Order : std::uint8_t { snapshot_first, journal_first };
  Result<void> carry_out(SiteStep& step, const CommitOptions& options, Order order);
  Result<void> begin_to_store(const SiteVersion& version);
  template <class Work>
  Result<void> journalled(Work work);  // counts the time that it takes, and logs its errors
  void put_in_force(std::shared_ptr<const Snapshot> snapshot, SharedHealthView view);
  void tell(const std::shared_ptr<const Snapshot>& snapshot);
  void tidy_journal();
  Result<void> check(const Site& site, const Site& good) const;
  Result<std::shared_ptr<const Snapshot>> build(const SiteVersion& version, const SharedHealthView& view);
  void publish(std::shared_ptr<const Snapshot> snapshot, SharedHealthView& view);
  void follow_view();  // rebuilds when the view is not the published one
  void tell_of_forgotten(const Snapshot& before, const Snapshot& after);
  void follow_health();

  Store store_;
  DirectorConfig director_;
  SnapshotBuilder& builder_;
  Publisher& publisher_;
  Live* live_ = nullptr;
  std::vector<SiteCheck> checks_;
  std::vector<SiteListener> listeners_;
  std::vector<SiteFollower> followers_;
  std::function<void()> give_up_ = [] {};

  std::mutex mutex_;  // the control lock; guards what stands above and below
  SharedHealthView published_view_ = std::make_shared<const HealthView>();
  std::shared_ptr<const Snapshot> published_;
  PublishReport report_;  // without digests

  ChangeLog log_;

  std::mutex wake_mutex_;  // never taken while waiting for the control lock; guards the two flags
  std::condition_variable wake_;
  bool health_dirty_ = false;
  bool stopping_ = false;
  std::thread follower_;
};

}  // namespace guideway
