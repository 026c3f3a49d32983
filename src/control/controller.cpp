#include "control/controller.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <nlohmann/json.hpp>

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
  HealthView view = health();
  auto snapshot = build(version(), view);
  if (!snapshot) return tl::unexpected<Error>(std::move(snapshot.error()));
  for (const SiteListener& listener : listeners_) listener(version());
  publish(std::move(*snapshot), std::move(view));
  for (const SiteListener& follower : followers_) follower(version());
  follower_ = std::thread([this] { follow_health(); });
  return {};
}

Result<nlohmann::json> Controller::run(const Arguments& arguments) {
  const std::lock_guard lock(mutex_);
  auto answer = run_command(*this, arguments);
  // A verdict by hand acts before it is answered.
  if (answer && arguments.command->effect == Effect::change) follow_view();
  return answer;
}

void Controller::health_changed() {
  {
    const std::lock_guard lock(wake_mutex_);
    health_dirty_ = true;
  }
  wake_.notify_one();
}

void Controller::read(const std::function<void(const SiteVersion&)>& look) {
  const std::lock_guard lock(mutex_);
  look(version());
}

MetricsView Controller::metrics() {
  const std::lock_guard lock(mutex_);
  PublishReport report = report_;
  if (published_) digests_.fill(report, version(), *published_);
  return metrics_view(*live_, version(), std::move(report));
}

HealthView Controller::health() { return live_ == nullptr ? HealthView{} : live_->health_view(); }

Result<Plan> Controller::commit(const Change& change, const CommitOptions& options) {
  return carry_out(plan(change), options);
}

Result<Plan> Controller::undo(const CommitOptions& options) { return carry_out(plan_undo(), options); }

Result<Plan> Controller::carry_out(Result<Plan> plan, const CommitOptions& options) {
  if (!plan) return plan;
  // Nothing to build: the store answers, or refuses.
  if (plan->no_op || (plan->needs_force() && !options.force)) return store_.commit(std::move(*plan), options);
  if (auto good = check(plan->after.site); !good) return tl::unexpected<Error>(std::move(good.error()));
  HealthView view = health();
  auto snapshot = build(plan->after, view);
  auto done = snapshot ? store_.commit(std::move(*plan), options)
                       : Result<Plan>(tl::unexpected<Error>(std::move(snapshot.error())));
  if (!done) {
    // The builder's newest snapshot must be the one that is published: its ids are looked up for the counters.
    if (auto old = build(version(), published_view_); !old) spdlog::error("{}", old.error().text());
    return done;
  }
  for (const SiteListener& listener : listeners_) listener(version());
  publish(std::move(*snapshot), std::move(view));
  for (const SiteListener& follower : followers_) follower(version());
  return done;
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
  publisher_.publish(snapshot);
  report_.publish = Clock::now() - begin;
  ++report_.published;
  published_ = std::move(snapshot);
  published_view_ = std::move(view);
}

void Controller::follow_view() {
  HealthView view = health();
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
