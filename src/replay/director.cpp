#include "replay/director.h"

#include <algorithm>

#include "replay/capture.h"
#include "state/snapshot_names.h"

namespace guideway {
namespace {

constexpr std::uint16_t mtu_default = 9000;

// capture_director_mac with the port's number, so that port 0 is who raw packets are framed to.
MacAddress local_mac(std::size_t port) {
  MacAddress mac = capture_director_mac;
  mac[5] = static_cast<std::uint8_t>(port);
  return mac;
}

MacAddress backend_mac(const IpAddress& address) {
  MacAddress mac{0x02, 0x67};
  const auto bytes = address.view();
  std::copy(bytes.end() - 4, bytes.end(), mac.begin() + 2);
  return mac;
}

std::size_t egress_of(const DirectorConfig& config) {
  const auto with_mac =
      std::ranges::find_if(config.ports, [](const PortConfig& p) { return p.next_hop_mac.has_value(); });
  if (with_mac != config.ports.end()) return static_cast<std::size_t>(with_mac - config.ports.begin());
  return config.ports.size() - 1;
}

}  // namespace

DirectorConfig replay_defaults() {
  DirectorConfig config;
  config.source_ipv4 = IpAddress::parse("192.0.2.1");
  config.source_ipv6 = IpAddress::parse("2001:db8::1");
  config.ports.resize(1);
  config.ports[0].name = "replay";
  config.ports[0].mtu = mtu_default;
  return config;
}

ReplayDirector::ReplayDirector(Store store, DirectorConfig config, rte_mempool* mbufs)
    : config_(std::move(config)),
      store_(std::move(store)),
      builder_(OuterSources{config_.source_ipv4, config_.source_ipv6, config_.outer_source_prefix},
               next_hops_, store_.recent_rows()),
      flows_(config_.flow_table_entries, 0),
      pipeline_({ports_, next_hops_, counters_, flows_, mbufs, {}}) {
  fill_ports();
}

Result<std::unique_ptr<ReplayDirector>> ReplayDirector::start(Site site, DirectorConfig config,
                                                              rte_mempool* mbufs) {
  if (config.ports.empty()) config.ports = replay_defaults().ports;
  if (config.ports.size() > ports_max)
    return fail(ErrorKind::invalid, "has more ports than a director can have", "director", "use at most 32");
  auto store = Store::open(std::nullopt, std::move(site));
  if (!store) return tl::unexpected(store.error());
  std::unique_ptr<ReplayDirector> director(new ReplayDirector(std::move(*store), std::move(config), mbufs));
  if (auto published = director->publish(std::chrono::milliseconds(0)); !published)
    return tl::unexpected(published.error());
  return director;
}

void ReplayDirector::fill_ports() {
  ports_.size = config_.ports.size();
  egress_ = static_cast<std::uint8_t>(egress_of(config_));
  for (std::size_t i = 0; i < config_.ports.size(); ++i) {
    PortView& port = ports_.ports[i];
    port.mac = local_mac(i);
    port.vlan = config_.ports[i].vlan;
    port.mtu = config_.ports[i].mtu;
    port.accept_any_mac = true;
  }
}

void ReplayDirector::set_health(const std::string& pool, const std::string& backend,
                                std::optional<Health> value) {
  if (value) {
    health_[pool][backend] = *value;
  } else {
    health_[pool].erase(backend);
  }
}

std::set<BackendId> ReplayDirector::down_backends() const {
  std::set<BackendId> down;
  for (const auto& [id, named] : backend_names_) {
    const auto pool = health_.find(named.pool);
    if (pool == health_.end()) continue;
    const auto set = pool->second.find(named.backend);
    if (set != pool->second.end() && set->second == Health::down) down.insert(id);
  }
  return down;
}

Result<void> ReplayDirector::publish(std::chrono::milliseconds now) {
  auto snapshot = builder_.build(store_.current(), std::make_shared<const HealthView>(health_), now);
  if (!snapshot) return tl::unexpected(snapshot.error());
  snapshot_ = std::move(*snapshot);
  witness_.follow(store_.current().site, now);
  resolve(*snapshot_);
  remember_names(*snapshot_);
  return {};
}

FlowCount ReplayDirector::open_flows(const std::string& pool, const std::string& backend,
                                     std::chrono::milliseconds now) const {
  const auto id = backend_id(store_.current(), *snapshot_, pool, backend);
  if (!id) return {};
  const Pool& found = *store_.current().site.find_pool(pool);
  const auto now_ms = static_cast<std::uint32_t>(now.count());
  FlowMarks marks;
  marks.add(counters_, *id, now_ms);
  return {flows_.table.count(*id, now_ms, found.timeouts.closing_ms).open,
          witness_.unseen(found, *found.find_backend(backend), now, marks)};
}

void ReplayDirector::resolve(const Snapshot& snapshot) {
  for (const auto& pool : snapshot.pools) {
    for (const SnapshotBackend& backend : pool->backends) {
      const MacAddress mac = config_.ports[egress_].next_hop_mac.value_or(backend_mac(backend.address));
      next_hops_.set(backend.next_hop, {NextHop::State::resolved, egress_, mac});
    }
  }
}

void ReplayDirector::remember_names(const Snapshot& snapshot) {
  for (const SnapshotService& service : snapshot.services) service_names_[service.id] = service.name;
  for (const auto& pool : snapshot.pools) {
    const Seating& seating = *store_.current().seatings.at(pool->name);
    for (std::size_t slot = 0; slot < pool->backends.size(); ++slot)
      backend_names_[pool->backends[slot].id] = {pool->name, seating.members[slot].name};
  }
}

void ReplayDirector::run(Burst& burst, std::uint32_t now_ms, Outputs& out) {
  pipeline_.run(burst, *snapshot_, now_ms, out);
  pipeline_.idle(now_ms);
}

}  // namespace guideway
