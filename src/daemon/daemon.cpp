#include "daemon/daemon.h"

#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "daemon/first_site.h"
#include "daemon/port_preflight.h"
#include "daemon/preflight.h"
#include "state/director_fit.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;

// How long the start waits for the world; traffic flows in any case afterwards.
constexpr auto neighbours_wait = 1000ms, verdicts_wait = 3000ms, new_backend_wait = 250ms;
constexpr auto round = 50ms;

std::vector<NeighbourPort> neighbour_ports(const Ports& ports) {
  std::vector<NeighbourPort> out;
  for (std::size_t i = 0; i < ports.all().size(); ++i) {
    const auto& port = ports.all()[i];
    out.push_back({port.config().name, static_cast<std::uint8_t>(i), port.kernel_interface(),
                   port.device_interface(), port.config().next_hop_mac});
  }
  return out;
}

// A change makes tables of half a megabyte and lets those of a version before go. Given back to the kernel each time, they
// come as fresh pages, which were a fifth of what the controller was seen at; so what was freed stays, up to a bound.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  // What one thread of the API freed is there for the next one's change.
  mallopt(M_ARENA_MAX, 1);
}

std::vector<IpAddress> backend_addresses(const Site& site) {
  std::vector<IpAddress> out;
  for (const auto& pool : site.pools)
    for (const auto& backend : pool.backends) out.push_back(backend.address);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// What goes to those of them that have no MAC is dropped until they have one.
void warn_of_unresolved(const Neighbours& neighbours, const std::vector<IpAddress>& backends) {
  std::set<std::string> asked;
  for (const IpAddress& backend : backends) asked.insert(backend.text());
  std::vector<std::string> unresolved;
  for (const NextHopReport& report : neighbours.reports())
    if (report.next_hop.state != NextHop::State::resolved && asked.contains(report.address))
      unresolved.push_back(fmt::format("{} ({})", report.address, report.via));
  if (!unresolved.empty()) spdlog::warn(fmt::format("backends without a next hop: {}", some_of(unresolved)));
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(const DirectorConfig& config, const std::optional<Site>& seed,
                                              const Signals& signals) {
  keep_freed_memory();
  std::unique_ptr<Daemon> out(new Daemon(config, signals));
  auto done = out->claim(seed);
  if (done && !out->interrupted()) done = out->open_devices();
  if (done && !out->interrupted()) done = out->start_control(seed);
  if (done && !out->interrupted()) done = out->start_traffic();
  if (done && !out->interrupted()) done = out->start_listeners();
  if (!done) return tl::unexpected(done.error());
  return out;
}

// Nobody else reads the signals, so what is read here is kept for serve().
bool Daemon::interrupted() {
  if (signal_.empty()) signal_ = signals_.wait(0ms);
  return !signal_.empty();
}

template <class Wait>
bool Daemon::within(std::chrono::milliseconds limit, Wait wait) {
  for (const auto end = std::chrono::steady_clock::now() + limit; std::chrono::steady_clock::now() < end;) {
    if (wait(round)) return true;
    if (interrupted()) return false;
  }
  return false;
}

// One pool after the other, as those of a large site take seconds.
void Daemon::make_first_rows(const Store& store) {
  for (const Pool& pool : store.current().site.pools) {
    if (interrupted()) return;
    first_rows_.push_back(rows_of(store.current(), pool, {}, *store.recent_rows()));
  }
}

// What shows that this daemon may run here, before anything of the host is changed.
Result<void> Daemon::claim(const std::optional<Site>& seed) {
  auto settings = preflight(config_);
  if (!settings) return tl::unexpected(settings.error());
  eal_settings_ = std::move(*settings);
  warn_of_foreign_sources(config_);
  auto socket = ApiSocket::open(config_.admin_socket);
  if (!socket) return tl::unexpected(socket.error());
  socket_.emplace(std::move(*socket));
  auto journal = Journal::open(config_.state_dir);
  if (!journal) return tl::unexpected(journal.error());
  journal_.emplace(std::move(*journal));
  for (const std::string& note : journal_->notes()) spdlog::warn("journal: {}", note);
  if (!config_.metrics.empty()) {
    auto metrics = MetricsServer::listen(config_.metrics);
    if (!metrics) return tl::unexpected(metrics.error());
    metrics_socket_.emplace(std::move(*metrics));
  }
  auto claims = claim_interfaces(config_);
  if (!claims) return tl::unexpected(claims.error());
  interface_claims_ = std::move(*claims);
  return check_first_site(*journal_, seed, config_);
}

Result<void> Daemon::open_devices() {
  auto eal = Eal::start(*eal_settings_);
  if (!eal) return tl::unexpected(eal.error());
  eal_.emplace(std::move(*eal));
  auto ports = Ports::open(config_);
  if (!ports) return tl::unexpected(ports.error());
  ports_ = std::move(*ports);
  publisher_ = std::make_unique<QsbrPublisher>(static_cast<unsigned>(config_.workers.size()));
  workers_ = std::make_unique<Workers>(config_, *ports_, next_hops_, *publisher_);
  return {};
}

Result<void> Daemon::start_control(const std::optional<Site>& seed) {
  auto store = Store::open(std::move(journal_), seed);
  journal_.reset();
  if (!store) return tl::unexpected(store.error());
  // Whoever edits the file must not wait for it to act.
  spdlog::info(fmt::format(
      "site: epoch {} in {}{}", to_index(store->current().epoch), config_.state_dir,
      !seed || *seed == store->current().site
          ? ""
          : "; the file of --site differs and is not read: `guideway apply FILE` changes the site"));
  make_first_rows(*store);
  if (interrupted()) return {};
  auto neighbours =
      Neighbours::start(neighbour_ports(*ports_), next_hops_, [this](std::span<const LinkState> links) {
        for (const auto& link : links) ports_->set_link(link.port, link.up);
      });
  if (!neighbours) return tl::unexpected(neighbours.error());
  neighbours_ = std::move(*neighbours);
  auto health = HealthChecker::start([this](std::span<const HealthChange>) { health_changed(); });
  if (!health) return tl::unexpected(health.error());
  health_ = std::move(*health);
  builder_ = std::make_unique<SnapshotBuilder>(
      OuterSources{config_.source_ipv4, config_.source_ipv6, config_.outer_source_prefix}, next_hops_,
      store->recent_rows());
  live_ = std::make_unique<LiveDirector>(LiveParts{*ports_, *workers_, *neighbours_, *health_},
                                         store->began_empty());
  controller_ = std::make_unique<Controller>(std::move(*store), config_, *builder_, *publisher_);
  controller_->set_live(*live_);
  controller_->add_check(check_local_addresses);
  controller_->add_check(
      [this](const Site& site, const Site& good) { return check_own_source(site, config_, good); });
  controller_->add_listener([this](const auto& version, const auto& snapshot) {
    live_->site_changed(version, snapshot);
    site_changed(version);
  });
  controller_->add_follower([this](const Site& site) { ports_->drop_other_services(site); });
  controller_->set_give_up([this] { lost_ = true; });
  verdicts_wanted_ = true;
  auto started = controller_->start();
  first_rows_.clear();
  return started;
}

Result<void> Daemon::start_traffic() {
  // A packet for a backend without a MAC is lost; a moment's wait in the device's ring is not.
  (void)within(neighbours_wait, [this](auto limit) { return neighbours_->wait_settled(limit); });
  if (!interrupted()) warn_of_unresolved(*neighbours_, backends_);
  return workers_->start();
}

Result<void> Daemon::start_listeners() {
  auto api = Api::start(std::move(*socket_),
                        [this](const Arguments& arguments) { return controller_->run(arguments); });
  socket_.reset();
  if (!api) return tl::unexpected(api.error());
  api_ = std::move(*api);
  spdlog::info(fmt::format("api: {}; metrics: {}", config_.admin_socket,
                           config_.metrics.empty() ? "off" : "http://" + config_.metrics + "/metrics"));
  if (!metrics_socket_) return {};
  auto metrics = MetricsServer::start(std::move(*metrics_socket_), [this] { return controller_->metrics(); });
  metrics_socket_.reset();
  if (!metrics) return tl::unexpected(metrics.error());
  metrics_ = std::move(*metrics);
  return {};
}

void Daemon::site_changed(const std::shared_ptr<const SiteVersion>& version) {
  const Site& site = version->site;
  ports_->add_services(site);
  // A drain changes nothing of what follows, and its rows are waiting.
  const auto same_check = [](const Pool& a, const Pool& b) { return a.health == b.health; };
  if (followed_ != nullptr && same_backends(followed_->site, site, same_check)) return;
  auto backends = backend_addresses(site);
  std::vector<IpAddress> gained;
  std::set_difference(backends.begin(), backends.end(), backends_.begin(), backends_.end(),
                      std::back_inserter(gained));
  backends_ = std::move(backends);
  neighbours_->set_backends(backends_);
  // Rows that lead to a new backend are published only now, so that its first packets find its MAC; one that
  // does not answer delays its own change and no other.
  if (!gained.empty()) {
    (void)neighbours_->wait_settled(new_backend_wait);
    warn_of_unresolved(*neighbours_, gained);
  }
  health_->update(health_targets(site));
  followed_ = version;
}

void Daemon::health_changed() {
  const std::lock_guard lock(verdicts_mutex_);
  if (verdicts_wanted_) controller_->health_changed();
}

Result<std::string> Daemon::serve() {
  if (interrupted()) return signal_;
  if (!within(verdicts_wait, [this](auto limit) { return health_->wait_ready(limit); }) && !interrupted())
    spdlog::warn("not every backend has been checked yet");
  spdlog::info(fmt::format("guidewayd " GUIDEWAY_VERSION " serves on {} port(s) with {} worker(s)",
                           ports_->all().size(), workers_->size()));
  sd_notify(0, "READY=1");
  for (;; signal_ = signals_.wait(round)) {
    if (!signal_.empty()) break;
    if (lost_)
      return fail(ErrorKind::internal, "a version of the site is in the journal and could not be carried out",
                  {}, "start guidewayd again: it starts with that version");
    (void)publisher_->reclaim();
    for (const auto& link : ports_->device_links())
      neighbours_->set_device_link(static_cast<std::uint8_t>(link.port), link.up);
  }
  sd_notify(0, "STOPPING=1");
  return signal_;
}

Daemon::~Daemon() {
  metrics_.reset();
  api_.reset();
  if (workers_) workers_->stop();
  {
    const std::lock_guard lock(verdicts_mutex_);
    verdicts_wanted_ = false;
  }
  controller_.reset();
  live_.reset();
  health_.reset();
  neighbours_.reset();
  workers_.reset();
  ports_.reset();
}

}  // namespace guideway
