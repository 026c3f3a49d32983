#include "control/controller.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "command/read_context.h"
#include "command/run.h"

namespace guideway {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch());
}

}  // namespace

Controller::Controller(Store store, DirectorConfig director, SnapshotBuilder& builder, Publisher& publisher)
    : store_(std::move(store)), director_(std::move(director)), builder_(builder), publisher_(publisher) {}

Controller::~Controller() {
  {
    const std::lock_guard lock(wake_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (follower_.joinable()) follower_.join();
}

Result<void> Controller::start() {
  const std::lock_guard lock(mutex_);
  if (auto good = check(version().site); !good) return good;
  HealthView view = live_health();
  auto snapshot = build(version(), view);
  if (!snapshot) return tl::unexpected<Error>(std::move(snapshot.error()));
  tell(*snapshot);
  publish(std::move(*snapshot), std::move(view));
  for (const SiteFollower& follower : followers_) follower(version().site);
  follower_ = std::thread([this] { follow_health(); });
  return {};
}

Result<nlohmann::json> Controller::run(const Arguments& arguments) {
  if (arguments.command->effect == Effect::read || arguments.dry_run) return read(arguments);
  const std::lock_guard lock(mutex_);
  auto answer = run_command(*this, arguments);
  // A verdict by hand acts before it is answered.
  if (answer) follow_view();
  return answer;
}

Result<nlohmann::json> Controller::read(const Arguments& arguments) {
  StoreView view;
  {
    const std::lock_guard lock(mutex_);
    view = store_.view();
  }
  ReadContext context(std::move(view), live_health(), director_, live_);
  return run_command(context, arguments);
}

void Controller::health_changed() {
  {
    const std::lock_guard lock(wake_mutex_);
    health_dirty_ = true;
  }
  wake_.notify_one();
}

MetricsView Controller::metrics() {
  std::unique_lock lock(mutex_);
  const StoreView view = store_.view();
  const HealthView published = published_view_;
  PublishReport report = report_;
  lock.unlock();
  RecentRows& recent = *view.recent_rows;
  for (const Pool& pool : view.current->site.pools)
    report.pools.push_back({pool.name, site_digest(*view.current, pool, recent),
                            rows_digest(*view.current, pool, published, recent)});
  report.site_digest = site_digest(*view.current, recent);
  return metrics_view(*live_, *view.current, std::move(report));
}

HealthView Controller::live_health() const { return live_ == nullptr ? HealthView{} : live_->health_view(); }

const HealthView& Controller::health() { return health_ = live_health(); }

Result<Plan> Controller::commit(const Change& change, const CommitOptions& options) {
  return carry_out(plan(change), options);
}

Result<Plan> Controller::undo(const CommitOptions& options) { return carry_out(plan_undo(), options); }

Result<Plan> Controller::carry_out(Result<Plan> plan, const CommitOptions& options) {
  if (!plan) return plan;
  // Nothing to build: the store answers, or refuses.
  if (plan->no_op || (plan->needs_force() && !options.force)) return store_.commit(std::move(*plan), options);
  if (auto good = check(plan->after.site); !good) return tl::unexpected<Error>(std::move(good.error()));
  HealthView view = live_health();
  auto snapshot = build(plan->after, view);
  auto done = snapshot ? make_durable(std::move(*plan), options)
                       : Result<Plan>(tl::unexpected<Error>(std::move(snapshot.error())));
  if (!done) {
    // Ids go on naming what they name in the published snapshot, in counters and in flow-table entries.
    builder_.take_back();
    return done;
  }
  tell(*snapshot);
  publish(std::move(*snapshot), std::move(view));
  for (const SiteFollower& follower : followers_) follower(version().site);
  return done;
}

Result<Plan> Controller::make_durable(Plan plan, const CommitOptions& options) {
  const auto begin = Clock::now();
  auto done = store_.commit(std::move(plan), options);
  if (done) report_.journal = Clock::now() - begin;
  return done;
}

void Controller::tell(const std::shared_ptr<const Snapshot>& snapshot) {
  for (const SiteListener& listener : listeners_) listener(store_.view().current, snapshot);
}

Result<void> Controller::check(const Site& site) const {
  for (const SiteCheck& check : checks_) {
    if (auto good = check(site); !good) return good;
  }
  return {};
}

Result<std::shared_ptr<const Snapshot>> Controller::build(const SiteVersion& version,
                                                          const HealthView& view) {
  const auto begin = Clock::now();
  auto snapshot = builder_.build(version, view, now());
  report_.build = Clock::now() - begin;
  return snapshot;
}

void Controller::publish(std::shared_ptr<const Snapshot> snapshot, HealthView view) {
  const auto begin = Clock::now();
  publisher_.publish(std::move(snapshot));
  report_.publish = Clock::now() - begin;
  ++report_.published;
  published_view_ = std::move(view);
}

void Controller::follow_view() {
  HealthView view = live_health();
  if (view == published_view_) return;
  auto snapshot = build(version(), view);
  if (!snapshot) {
    spdlog::error("the rows do not follow the health: {}", snapshot.error().text());
    return;
  }
  publish(std::move(*snapshot), std::move(view));
}

void Controller::follow_health() {
  for (;;) {
    {
      std::unique_lock lock(wake_mutex_);
      wake_.wait(lock, [this] { return stopping_ || health_dirty_; });
      if (stopping_) return;
      health_dirty_ = false;
    }
    const std::lock_guard lock(mutex_);
    follow_view();
  }
}

}  // namespace guideway
