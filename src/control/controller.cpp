#include "control/controller.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "command/read_context.h"
#include "command/run.h"
#include "control/thread_faults.h"

namespace guideway {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch());
}

// How often a change is planned anew, or a version put in force.
constexpr int attempts_max = 3;

// The answer could not be made, which is no reason to ask for the same again.
Error untold(std::string what) {
  return {ErrorKind::in_doubt,
          std::move(what),
          {},
          "`guideway status` tells where the site stands; there is nothing to repeat"};
}
Error in_force_untold(Epoch epoch, std::string_view why) {
  return untold(fmt::format("the change is in force as epoch {}, but what it moves cannot be told: {}",
                            to_index(epoch), why));
}

// As run_command, where not even the memory for a sentence is left.
Result<nlohmann::json> answer_of(Context& context, const Arguments& arguments) {
  try {
    return run_command(context, arguments);
  } catch (const std::bad_alloc&) {
    return tl::unexpected<Error>(Error{ErrorKind::internal, "no memory", {}, {}});
  }
}

// Takes back what the store has begun, or the newest build, unless it is cancelled.
template <class Part>
class TakeBack {
 public:
  explicit TakeBack(Part& part) : part_(&part) {}
  ~TakeBack() {
    if (part_ != nullptr) part_->take_back();
  }
  TakeBack(const TakeBack&) = delete;
  TakeBack& operator=(const TakeBack&) = delete;
  void cancel() { part_ = nullptr; }

 private:
  Part* part_;
};

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
  if (auto good = check(version().site, Site{}); !good) return good;
  SharedHealthView view = live_health();
  auto snapshot = build(version(), view);
  if (!snapshot) return tl::unexpected<Error>(std::move(snapshot.error()));
  tell(*snapshot);
  publish(std::move(*snapshot), view);
  for (const SiteFollower& follower : followers_) follower(version().site);
  tidy_journal();
  log_.start();
  follower_ = std::thread([this] { follow_health(); });
  return {};
}

// A change on its way: it works on one moment of the site, and takes the lock for the commit.
class Controller::Attempt final : public ReadContext {
 public:
  // `lock` is held already, or it is taken when there is something to carry out.
  Attempt(Controller& controller, std::unique_lock<std::mutex>& lock, StoreView view)
      : ReadContext(std::move(view), controller.live_health(), controller.director_, controller.live_),
        controller_(controller),
        lock_(lock) {}

  Result<Plan> commit(const Change& change, const CommitOptions& options) override {
    auto next = step(change);
    if (!next) return tl::unexpected<Error>(std::move(next.error()));
    if (next->no_op || !breaks_nobody(*next, health()))
      return carried_out(compared(std::move(*next)), options);
    // The rows are made while the disk works, and counted when they are in force.
    take_lock(*next, options);
    auto done = controller_.carry_out(*next, options, Order::journal_first);
    if (done) in_force_ = next->after.epoch;
    lock_.unlock();
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    return compared(std::move(*next));
  }
  Result<Plan> undo(const CommitOptions& options) override { return carried_out(plan_undo(), options); }
  // Another change came between the plan and its commit, and nothing has been done.
  [[nodiscard]] bool overtaken() const { return overtaken_; }
  // The epoch that it has become, whatever became of its answer.
  [[nodiscard]] std::optional<Epoch> in_force() const { return in_force_; }

 private:
  Result<Plan> carried_out(Result<Plan> plan, const CommitOptions& options) {
    if (!plan) return plan;
    take_lock(*plan, options);
    auto done = controller_.carry_out(std::move(*plan), options);
    if (done && !done->no_op) in_force_ = done->after.epoch;
    lock_.unlock();
    return done;
  }
  void take_lock(const SiteStep& step, const CommitOptions& options) {
    if (!lock_.owns_lock()) lock_.lock();
    // Whoever expects an epoch is told that it has passed.
    overtaken_ = controller_.version().epoch != step.before.epoch && !options.expect_epoch;
  }

  Controller& controller_;
  std::unique_lock<std::mutex>& lock_;
  bool overtaken_ = false;
  std::optional<Epoch> in_force_;
};

Result<nlohmann::json> Controller::run(const Arguments& arguments) {
  try {
    return arguments.command->effect == Effect::read || arguments.dry_run ? read(arguments)
                                                                          : change(arguments);
  } catch (const std::exception& exception) {
    return tl::unexpected<Error>(failed_inside(exception, *arguments.command));
  }
}

Result<nlohmann::json> Controller::change(const Arguments& arguments) {
  // For a change that is in force when the memory for a better answer has gone.
  Error in_any_case = untold("the change is in force, but what it moves cannot be told: no memory is left");
  for (int attempt = 1;; ++attempt) {
    std::unique_lock lock(mutex_);
    StoreView view = store_.view();
    // One that is overtaken again and again, as it takes long, has its turn in the end.
    if (attempt < attempts_max) lock.unlock();
    Attempt context(*this, lock, std::move(view));
    auto answer = answer_of(context, arguments);
    if (context.overtaken()) continue;
    const std::optional<Epoch> in_force = context.in_force();
    if (!answer && !in_force) return answer;
    // A verdict by hand acts before it is answered, or soon after.
    if (!lock.owns_lock()) lock.lock();
    if (!ThreadFaults("rows").caught([this] { follow_view(); })) health_changed();
    lock.unlock();
    if (answer) {
      log_.in_force(arguments, *answer);
      return answer;
    }
    log_.in_force(arguments, *in_force);
    try {
      return tl::unexpected<Error>(in_force_untold(*in_force, answer.error().what));
    } catch (const std::bad_alloc&) {
      return tl::unexpected<Error>(std::move(in_any_case));
    }
  }
}

// By the health that the workers' rows are of: a verdict that is a moment old is not in force yet.
Result<nlohmann::json> Controller::read(const Arguments& arguments) {
  std::unique_lock lock(mutex_);
  StoreView view = store_.view();
  SharedHealthView health = published_view_;
  lock.unlock();
  ReadContext context(std::move(view), std::move(health), director_, live_);
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
  const SharedHealthView published = published_view_;
  PublishReport report = report_;
  lock.unlock();
  RecentRows& recent = *view.recent_rows;
  for (const Pool& pool : view.current->site.pools)
    report.pools.push_back({pool.name, site_digest(*view.current, pool, recent),
                            rows_digest(*view.current, pool, *published, recent)});
  report.site_digest = site_digest(*view.current, recent);
  return metrics_view(*live_, *view.current, std::move(report));
}

SharedHealthView Controller::live_health() const {
  return live_ == nullptr ? std::make_shared<const HealthView>() : live_->health_view();
}

Result<Plan> Controller::carry_out(Plan plan, const CommitOptions& options) {
  // Nothing to build: the store answers, or refuses.
  if (plan.no_op || (plan.needs_force() && !options.force)) return store_.commit(std::move(plan), options);
  if (auto done = carry_out(plan, options, Order::snapshot_first); !done)
    return tl::unexpected<Error>(std::move(done.error()));
  return plan;
}

Result<void> Controller::carry_out(SiteStep& step, const CommitOptions& options, Order order) {
  if (auto fresh = store_.freshen(step, options); !fresh) return fresh;
  if (auto good = check(step.after.site, version().site); !good) return good;
  report_.journal = {};
  TakeBack unless_stored(store_);
  if (order == Order::journal_first)
    if (auto begun = begin_to_store(step.after); !begun) return begun;
  SharedHealthView view = live_health();
  auto snapshot = build(step.after, view);
  if (!snapshot) return tl::unexpected<Error>(std::move(snapshot.error()));
  // Ids go on naming what they name in the published snapshot, in counters and in flow-table entries.
  TakeBack unless_done(builder_);
  if (order == Order::snapshot_first)
    if (auto begun = begin_to_store(step.after); !begun) return begun;
  if (auto done = journalled([this] { return store_.finish(); }); !done) return done;
  unless_stored.cancel();
  unless_done.cancel();
  put_in_force(std::move(*snapshot), std::move(view));
  tidy_journal();
  return {};
}

Result<void> Controller::begin_to_store(const SiteVersion& version) {
  return journalled([&] { return store_.begin(version); });
}

// What is on disk cannot be taken back. It needs little memory, so that a second try may find it.
void Controller::put_in_force(std::shared_ptr<const Snapshot> snapshot, SharedHealthView view) {
  for (int attempt = 1;; ++attempt) {
    try {
      tell(snapshot);
      publish(snapshot, view);  // takes the view only when it is done
      for (const SiteFollower& follower : followers_) follower(version().site);
      return;
    } catch (const std::exception& exception) {
      if (attempt < attempts_max) continue;
      spdlog::critical(
          "the site's epoch {} is in the journal and cannot be carried out: {}; guidewayd ends, and starts "
          "with it",
          to_index(version().epoch), exception.what());
      give_up_();
      throw;
    }
  }
}

template <class Work>
Result<void> Controller::journalled(Work work) {
  const auto begin = Clock::now();
  auto done = work();
  if (!done) log_.journal_failed(done.error());
  report_.journal += Clock::now() - begin;
  return done;
}

// It is tried again with the next change, which it does not depend on.
void Controller::tidy_journal() {
  try {
    if (auto tidied = store_.tidy(); !tidied) spdlog::warn("journal: {}", tidied.error().text());
  } catch (const std::exception& exception) {
    spdlog::warn("journal: {}", exception.what());
  }
}

void Controller::tell(const std::shared_ptr<const Snapshot>& snapshot) {
  for (const SiteListener& listener : listeners_) listener(store_.view().current, snapshot);
}

Result<void> Controller::check(const Site& site, const Site& good) const {
  for (const SiteCheck& check : checks_)
    if (auto passed = check(site, good); !passed) return passed;
  return {};
}

Result<std::shared_ptr<const Snapshot>> Controller::build(const SiteVersion& version,
                                                          const SharedHealthView& view) {
  const auto begin = Clock::now();
  auto snapshot = builder_.build(version, view, now());
  report_.build = Clock::now() - begin;
  return snapshot;
}

void Controller::publish(std::shared_ptr<const Snapshot> snapshot, SharedHealthView& view) {
  const auto begin = Clock::now();
  published_ = snapshot;
  publisher_.publish(std::move(snapshot));
  report_.publish = Clock::now() - begin;
  ++report_.published;
  published_view_.swap(view);
}

void Controller::follow_view() {
  SharedHealthView view = live_health();
  if (view == published_view_ || *view == *published_view_) return;
  auto snapshot = build(version(), view);
  if (!snapshot) {
    spdlog::error("the rows do not follow the health: {}", snapshot.error().text());
    return;
  }
  TakeBack unless_done(builder_);
  tell_of_forgotten(*published_, **snapshot);
  unless_done.cancel();
  publish(std::move(*snapshot), view);
}

// No command has a plan of this to tell it in.
void Controller::tell_of_forgotten(const Snapshot& before, const Snapshot& after) {
  for (std::size_t i = 0; i < after.pools.size(); ++i) {
    const SnapshotPool& pool = *after.pools[i];
    if (pool.flow_table) continue;
    const std::uint32_t rows = rows_forgotten(*before.pools[i], pool);
    if (rows == 0) continue;
    report_.rows_forgotten[pool.name] += rows;
    spdlog::warn(
        "pool {}: the health has changed, and on {} of {} rows the backend that has taken new flows is no "
        "hop any "
        "more; without a flow table its connections may break there",
        pool.name, rows, pool.rows.size());
  }
}

void Controller::follow_health() {
  ThreadFaults faults("health follower");
  for (;;) {
    {
      std::unique_lock lock(wake_mutex_);
      wake_.wait(lock, [this] { return stopping_ || health_dirty_; });
      if (stopping_) return;
      health_dirty_ = false;
    }
    const bool followed = faults.caught([this] {
      const std::lock_guard lock(mutex_);
      follow_view();
    });
    if (!followed) health_changed();  // again, in a moment
  }
}

}  // namespace guideway
