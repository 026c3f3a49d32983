#include "control/health.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <xxhash.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "control/health_probe.h"
#include "control/thread_faults.h"

namespace guideway {
namespace {

using Clock = std::chrono::steady_clock;
using Key = std::pair<std::string, std::string>;  // pool, backend

constexpr std::size_t alarm_pool_min = 3;
constexpr std::chrono::milliseconds interval_min{10};  // whatever a caller says, never a busy loop
constexpr std::chrono::milliseconds turn_max{1000};
constexpr std::chrono::milliseconds first_within{500};

std::string_view text_of(Health health) {
  return health == Health::up ? "up" : health == Health::down ? "down" : "unknown";
}

struct Target {
  HealthTarget config;
  std::uint64_t id = 0;  // of this target under this check; a late result of an older one finds nobody
  Health checked = Health::unknown;
  std::optional<Health> override_value;
  std::string last_error;
  std::uint32_t contrary = 0;  // results in a row that speak against `checked`
  bool probed = false;
  Clock::time_point due{};  // its place in the schedule
  Clock::time_point checked_since{}, verdict_since{};

  [[nodiscard]] Health verdict() const { return override_value.value_or(checked); }
  [[nodiscard]] bool has_check() const { return config.check.type != HealthCheckType::none; }
};

// Where in a span the name stands: the same after every restart.
std::chrono::nanoseconds offset_of(const HealthTarget& target, std::chrono::nanoseconds span) {
  const std::string name = target.pool + '/' + target.backend;
  return std::chrono::nanoseconds(XXH3_64bits(name.data(), name.size()) %
                                  static_cast<std::uint64_t>(span.count()));
}

// The first moment: soon, as rows are waiting for the verdict, and yet not everybody's at once.
Clock::time_point first_moment(const HealthTarget& target, Clock::time_point now) {
  const auto interval = std::max(target.check.interval, interval_min);
  return now + offset_of(target, std::min(interval, first_within));
}

// The next moment of this target: a grid of its interval whose offset is a hash of its name, so that the
// probes of many backends spread evenly, and the same way after every restart.
Clock::time_point next_moment(const HealthTarget& target, Clock::time_point now) {
  const auto interval = std::chrono::nanoseconds(std::max(target.check.interval, interval_min));
  const std::int64_t grid = interval.count(), at = now.time_since_epoch().count(),
                     offset = offset_of(target, interval).count();
  return Clock::time_point(Clock::duration(at + grid - ((at - offset) % grid + grid) % grid));
}

std::size_t parallel_limit(std::size_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(files.rlim_cur / 2, 1, wanted);
}

}  // namespace

struct HealthChecker::Impl {
  const Callback on_change;
  const std::size_t parallel_max;
  HealthProbes probes;  // the thread's own, but for wake()

  mutable std::mutex mutex;  // everything below
  std::condition_variable turned;
  std::map<Key, Target> targets;
  std::map<std::uint64_t, Target*> by_id;
  std::set<std::pair<Clock::time_point, std::uint64_t>> schedule;  // targets that are not being probed
  std::vector<std::uint64_t> cancelled;                            // for the thread
  std::vector<HealthChange> changes;                               // not yet told
  std::set<std::string> alarmed;                                   // pools
  std::uint64_t next_id = 1;
  bool updated = false, stopping = false;

  SharedHealthView answered;  // what view() answered last; null once a verdict or the targets have changed
  std::thread thread;

  Impl(Callback callback, HealthOptions options, HealthProbes opened)
      : on_change(std::move(callback)),
        parallel_max(parallel_limit(options.parallel_max)),
        probes(std::move(opened)) {}

  void run();
  [[nodiscard]] std::chrono::milliseconds start_due();
  void record(const ProbeResult& result);
  void decide(Target& target, Health checked, const std::string& reason);
  void tell(Target& target, Health before, const std::string& reason);
  void judge_pool(const std::string& pool);

  void add(Target& target, Clock::time_point now);
  void plan(Target& target, Clock::time_point due);
  void start_anew();
  void drop(Target& target);
  void change(Target& target, HealthTarget config, Clock::time_point now);
  [[nodiscard]] bool ready() const {
    return updated && std::ranges::all_of(targets, [](const auto& item) {
             return item.second.probed || !item.second.has_check();
           });
  }
};

// The thread.

void HealthChecker::Impl::run() {
  ThreadFaults faults("health checks");
  std::chrono::milliseconds wait{0};
  bool whole = true;  // no turn has broken off since
  for (bool goes_on = true; goes_on;)
    whole = faults.caught([&] {
      const auto results = probes.run(wait);
      std::vector<HealthChange> news;
      {
        const std::lock_guard lock(mutex);
        goes_on = !stopping;
        if (stopping) return;
        if (!whole) start_anew();
        for (const std::uint64_t id : cancelled) probes.cancel(id);
        cancelled.clear();
        for (const auto& result : results) record(result);
        wait = start_due();
        news.swap(changes);
      }
      turned.notify_all();
      if (!news.empty() && on_change) on_change(news);
    });
}

// After a turn that broke off, nobody knows who is being probed: everybody has his turn again.
void HealthChecker::Impl::start_anew() {
  const auto now = Clock::now();
  for (auto& [key, target] : targets) {
    drop(target);
    add(target, now);
  }
}

// Starts what is due and returns how long nothing else will be.
std::chrono::milliseconds HealthChecker::Impl::start_due() {
  const auto now = Clock::now();
  while (!schedule.empty() && probes.running() < parallel_max) {
    const auto [due, id] = *schedule.begin();
    if (due > now) return std::min(turn_max, std::chrono::ceil<std::chrono::milliseconds>(due - now));
    const Target& target = *by_id.at(id);
    probes.start(id, target.config.address, target.config.check);
    schedule.erase(schedule.begin());
  }
  return turn_max;
}

void HealthChecker::Impl::record(const ProbeResult& result) {
  const auto at = by_id.find(result.id);
  if (at == by_id.end()) return;
  Target& target = *at->second;
  plan(target, next_moment(target.config, Clock::now()));
  target.probed = true;
  if (result.outcome == ProbeResult::Outcome::not_made) {
    if (target.last_error.empty())
      spdlog::error("health: {}/{} cannot be checked: {}; raise the limits of guidewayd", target.config.pool,
                    target.config.backend, result.error);
    target.last_error = "not checked: " + result.error;
    return;
  }
  const bool passed = result.outcome == ProbeResult::Outcome::passed;
  const Health seen = passed ? Health::up : Health::down;
  target.last_error = result.error;
  if (target.checked == seen) {
    target.contrary = 0;
    return;
  }
  const std::uint32_t needed = passed ? target.config.check.rise : target.config.check.fall;
  if (target.checked == Health::unknown || ++target.contrary >= needed)
    decide(target, seen, passed ? "check passed" : result.error);
}

void HealthChecker::Impl::decide(Target& target, Health checked, const std::string& reason) {
  const Health before = target.verdict();
  target.contrary = 0;
  target.checked = checked;
  target.checked_since = Clock::now();
  tell(target, before, reason);
  judge_pool(target.config.pool);
}

void HealthChecker::Impl::tell(Target& target, Health before, const std::string& reason) {
  if (target.verdict() == before) return;
  answered.reset();
  target.verdict_since = Clock::now();
  changes.push_back({target.config.pool, target.config.backend, target.verdict(), reason});
  spdlog::info("health: {}/{} is {}: {}", target.config.pool, target.config.backend,
               text_of(target.verdict()), reason);
}

void HealthChecker::Impl::judge_pool(const std::string& pool) {
  std::size_t down = 0;
  bool others = false;
  auto first = Clock::time_point::max(), last = Clock::time_point::min();
  Clock::duration interval{};
  for (auto at = targets.lower_bound({pool, {}}); at != targets.end() && at->first.first == pool; ++at) {
    const Target& target = at->second;
    if (!target.has_check()) continue;
    if (target.checked != Health::down) {
      others = true;
      break;
    }
    ++down;
    first = std::min(first, target.checked_since);
    last = std::max(last, target.checked_since);
    interval =
        std::max<Clock::duration>(interval, target.config.check.interval + target.config.check.timeout);
  }
  if (others || down == 0) {
    if (alarmed.erase(pool) > 0) spdlog::info("health: pool {} has backends that answer again", pool);
  } else if (down >= alarm_pool_min && last - first <= interval && alarmed.insert(pool).second) {
    spdlog::error(
        "health: all {} backends of pool {} went down at once; that is more likely the director's own fault: "
        "check "
        "its network towards them",
        down, pool);
  }
}

// Targets.

void HealthChecker::Impl::add(Target& target, Clock::time_point now) {
  target.id = next_id++;
  by_id[target.id] = &target;
  if (target.has_check()) plan(target, first_moment(target.config, now));
}

void HealthChecker::Impl::plan(Target& target, Clock::time_point due) {
  target.due = due;
  schedule.emplace(target.due, target.id);
}

void HealthChecker::Impl::drop(Target& target) {
  cancelled.push_back(target.id);
  schedule.erase({target.due, target.id});
  by_id.erase(target.id);
}

void HealthChecker::Impl::change(Target& target, HealthTarget config, Clock::time_point now) {
  drop(target);
  const bool same_server =
      target.config.address == config.address && config.check.type != HealthCheckType::none;
  target.config = std::move(config);
  target.contrary = 0;
  if (!same_server) {
    const Health before = target.verdict();
    target.checked = Health::unknown;
    target.probed = false;
    target.last_error.clear();
    tell(target, before, target.has_check() ? "new address" : "no check");
  }
  add(target, now);
}

// The public face.

std::vector<HealthTarget> health_targets(const Site& site) {
  std::vector<HealthTarget> out;
  for (const Pool& pool : site.pools)
    for (const Backend& backend : pool.backends)
      out.push_back({pool.name, backend.name, backend.address, pool.health});
  return out;
}

HealthChecker::HealthChecker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HealthChecker>> HealthChecker::start(Callback on_change, HealthOptions options) {
  auto probes = HealthProbes::open();
  if (!probes) return tl::unexpected(probes.error());
  auto impl = std::make_unique<Impl>(std::move(on_change), options, std::move(*probes));
  Impl* raw = impl.get();
  raw->thread = std::thread([raw] { raw->run(); });
  return std::unique_ptr<HealthChecker>(new HealthChecker(std::move(impl)));
}

HealthChecker::~HealthChecker() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->probes.wake();
  impl_->thread.join();
}

void HealthChecker::update(std::vector<HealthTarget> wanted) {
  {
    const std::lock_guard lock(impl_->mutex);
    const auto now = Clock::now();
    impl_->answered.reset();
    std::set<std::string> pools;  // whose members changed
    std::set<Key> kept;
    for (auto& config : wanted) {
      const Key key{config.pool, config.backend};
      if (!kept.insert(key).second) continue;
      const auto [at, fresh] = impl_->targets.try_emplace(key);
      Target& target = at->second;
      if (fresh) {
        target.config = std::move(config);
        target.verdict_since = now;
        impl_->add(target, now);
      } else if (target.config.address != config.address || target.config.check != config.check) {
        impl_->change(target, std::move(config), now);
      } else {
        continue;
      }
      pools.insert(key.first);
    }
    for (auto at = impl_->targets.begin(); at != impl_->targets.end();) {
      if (kept.contains(at->first)) {
        ++at;
        continue;
      }
      pools.insert(at->first.first);
      impl_->drop(at->second);
      at = impl_->targets.erase(at);
    }
    for (const auto& pool : pools) impl_->judge_pool(pool);
    impl_->updated = true;
  }
  impl_->probes.wake();
}

Result<void> HealthChecker::set_override(const std::string& pool, const std::string& backend,
                                         std::optional<Health> value) {
  {
    const std::lock_guard lock(impl_->mutex);
    const auto at = impl_->targets.find({pool, backend});
    if (at == impl_->targets.end())
      return fail(ErrorKind::not_found, fmt::format("no backend {} in pool {}", backend, pool), {},
                  "see `guideway health` for the names");
    Target& target = at->second;
    const Health before = target.verdict();
    target.override_value = value;
    impl_->tell(target, before, value ? "set by hand" : "left to the checks again");
  }
  impl_->probes.wake();
  return {};
}

SharedHealthView HealthChecker::view() const {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->answered != nullptr) return impl_->answered;
  auto out = std::make_shared<HealthView>();
  for (const auto& [key, target] : impl_->targets) (*out)[key.first][key.second] = target.verdict();
  return impl_->answered = std::move(out);
}

std::vector<HealthReport> HealthChecker::reports() const {
  const std::lock_guard lock(impl_->mutex);
  const auto now = Clock::now();
  std::vector<HealthReport> out;
  out.reserve(impl_->targets.size());
  for (const auto& [key, target] : impl_->targets) {
    HealthReport report;
    report.pool = key.first;
    report.backend = key.second;
    report.verdict = target.verdict();
    report.override_value = target.override_value;
    report.checked = target.checked;
    report.last_error = target.last_error;
    report.since_change = std::chrono::duration_cast<std::chrono::milliseconds>(now - target.verdict_since);
    report.pool_alarm = impl_->alarmed.contains(key.first);
    out.push_back(std::move(report));
  }
  return out;
}

bool HealthChecker::ready() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->ready();
}

bool HealthChecker::wait_ready(std::chrono::milliseconds limit) {
  std::unique_lock lock(impl_->mutex);
  return impl_->turned.wait_for(lock, limit, [this] { return impl_->ready(); });
}

std::vector<std::string> HealthChecker::alarms() const {
  const std::lock_guard lock(impl_->mutex);
  return {impl_->alarmed.begin(), impl_->alarmed.end()};
}

}  // namespace guideway
