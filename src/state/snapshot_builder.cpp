#include "state/snapshot_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "state/backend_ids.h"
#include "state/pool_rows.h"
#include "state/service_cover.h"
#include "state/service_ids.h"
#include "state/site_check.h"

namespace guideway {
namespace {

using std::chrono::milliseconds;

// A pool as it was built, with everything that it was built from.
struct BuiltPool {
  std::shared_ptr<const Pool> pool;
  std::shared_ptr<const Seating> seating;
  std::vector<MemberStatus> status;
  std::shared_ptr<const SnapshotPool> built;
};
using BuiltPools = std::map<std::string, std::shared_ptr<const BuiltPool>>;

// What the newest build has replaced; what it has not is empty.
struct Replaced {
  std::optional<BackendIds> backend_ids;
  std::optional<ServiceIds> service_ids;
  std::uint32_t pools_numbered = 0;
  std::optional<BuiltPools> pools;
  std::optional<SharedHealthView> health;
};

BackendIdentity identity(const Pool& pool, const Backend& backend) {
  return {pool.name, backend.name, backend.address};
}

bool same_backends(const Pool& a, const Pool& b) {
  const auto same_one = [](const Backend& x, const Backend& y) {
    return x.name == y.name && x.address == y.address;
  };
  return std::equal(a.backends.begin(), a.backends.end(), b.backends.begin(), b.backends.end(), same_one);
}

// Whether both views tell the same of the pool.
bool same_health(const HealthView& a, const HealthView& b, const std::string& pool) {
  const auto in_a = a.find(pool), in_b = b.find(pool);
  if (in_a == a.end() || in_b == b.end()) return in_a == a.end() && in_b == b.end();
  return in_a->second == in_b->second;
}

milliseconds longest_timeout(const Site& site) {
  std::uint32_t longest = 0;
  for (const Pool& pool : site.pools) {
    const FlowTimeouts& t = pool.timeouts;
    longest = std::max({longest, t.fresh_ms, t.established_ms, t.closing_ms, t.udp_ms});
  }
  return milliseconds(longest);
}

}  // namespace

std::uint32_t rows_forgotten(const SnapshotPool& before, const SnapshotPool& after) {
  if (&before == &after) return 0;
  std::uint32_t out = 0;
  for (std::size_t row = 0; row < after.rows.size(); ++row) {
    const Row &was = before.rows[row], &is = after.rows[row];
    if (was == is) continue;
    if (was.takes_new != 0 && std::find(is.hop.begin(), is.hop.end(), was.hop[0]) == is.hop.end()) ++out;
  }
  return out;
}

struct SnapshotBuilder::Impl {
  OuterSources sources;
  NextHops& next_hops;
  std::shared_ptr<RecentRows> recent;
  BackendIds backend_ids;
  ServiceIds service_ids;
  std::uint32_t pools_numbered = 0;
  BuiltPools pools;                                                // of the newest snapshot
  SharedHealthView health = std::make_shared<const HealthView>();  // likewise

  std::vector<ServiceRule> rules;  // of the newest snapshot, or of one that was taken back,
  ServiceTable lookup;             // and what they make

  std::optional<Replaced> replaced;

  void take_back() noexcept {
    if (!replaced) return;
    if (replaced->backend_ids) backend_ids = std::move(*replaced->backend_ids);
    if (replaced->service_ids) service_ids = std::move(*replaced->service_ids);
    if (replaced->pools) pools = std::move(*replaced->pools);
    if (replaced->health) health = std::move(*replaced->health);
    pools_numbered = replaced->pools_numbered;
    replaced.reset();
  }

  Impl(OuterSources outer, NextHops& hops, std::shared_ptr<RecentRows> rows)
      : sources(std::move(outer)), next_hops(hops), recent(std::move(rows)) {}

  Result<std::shared_ptr<const Snapshot>> build(const SiteVersion& version, const SharedHealthView& view,
                                                milliseconds now, Replaced& old);

  Result<IpAddress> outer_source(const Pool& pool) const {
    const Family family = pool.backends.empty() ? Family::ipv4 : pool.backends.front().address.family;
    const auto& source = family == Family::ipv4 ? sources.ipv4 : sources.ipv6;
    if (source) return *source;
    if (pool.backends.empty()) return IpAddress{};
    return fail(
        ErrorKind::refused,
        fmt::format("its backends have {} addresses and the director has no such source",
                    family == Family::ipv4 ? "IPv4" : "IPv6"),
        fmt::format("pool \"{}\"", pool.name),
        fmt::format("set {} in director.toml", family == Family::ipv4 ? "source_ipv4" : "source_ipv6"));
  }

  bool spreads(const Pool& pool) const {
    const bool wants = pool.encapsulation == Encapsulation::ipip || pool.encapsulation == Encapsulation::gre;
    return wants && sources.spread && !pool.backends.empty() &&
           pool.backends.front().address.family == Family::ipv4;
  }

  // Everything that can refuse a site, before anything is changed. Answers with its next hops, which are held so that
  // there is room for each pool's.
  Result<std::vector<NextHopLease>> check(const Site& site) {
    std::vector<NextHopLease> out;
    for (const Pool& pool : site.pools) {
      if (auto source = outer_source(pool); !source) return tl::unexpected(std::move(source.error()));
      std::vector<IpAddress> addresses;
      addresses.reserve(pool.backends.size());
      for (const Backend& backend : pool.backends) addresses.push_back(backend.address);
      auto held = next_hops.hold(addresses);
      if (!held)
        return fail(ErrorKind::refused,
                    fmt::format("there is no room for its next hops, as {} backend addresses are in use or "
                                "were until a moment ago",
                                NextHops::capacity),
                    fmt::format("pool \"{}\"", pool.name), "take backends away first");
      out.push_back(std::move(*held));
    }
    return out;
  }

  // Who they are, in the order of the seating's members. `old`: the pool before, where it has the same ones.
  void identify(SnapshotPool& out, const Pool& pool, const Seating& seating, const BuiltPool* old) {
    if (old != nullptr && old->seating.get() == &seating && same_backends(*old->pool, pool)) {
      out.backends = old->built->backends;
      out.next_hops = old->built->next_hops;
      return;
    }
    out.backends.reserve(seating.members.size());
    std::vector<IpAddress> addresses;
    addresses.reserve(seating.members.size());
    for (const Backend* backend : backends_by_member(seating, pool)) {
      out.backends.push_back(
          {.address = backend->address, .id = *backend_ids.find(identity(pool, *backend))});
      addresses.push_back(backend->address);
    }
    auto held = std::make_shared<const NextHopLease>(*next_hops.hold(addresses));
    for (std::size_t i = 0; i < out.backends.size(); ++i) out.backends[i].next_hop = (*held)[i];
    out.next_hops = std::move(held);
  }

  static void tell_who_keeps_flows(SnapshotPool& out, const Pool& pool, const Seating& seating,
                                   const std::vector<MemberStatus>& status) {
    const auto takes_new = takes_new_flows(seating.members, status, pool.rules());
    for (std::size_t i = 0; i < out.backends.size(); ++i) {
      out.backends[i].keeps_tcp = keeps_tcp(status[i], pool.on_down);
      out.backends[i].keeps_udp = keeps_udp(status[i], takes_new[i]);
    }
  }

  // After check() and assign_ids() nothing here can be refused.
  std::shared_ptr<const BuiltPool> build_pool(const SiteVersion& version,
                                              const std::shared_ptr<const Pool>& shared,
                                              const SharedHealthView& view) {
    const Pool& pool = *shared;
    const auto seating = version.seatings.at(pool.name);
    const auto found = pools.find(pool.name);
    const BuiltPool* old = found == pools.end() ? nullptr : found->second.get();
    const bool same_seating = old != nullptr && old->seating == seating;
    if (same_seating && old->pool == shared && (view == health || same_health(*view, *health, pool.name)))
      return found->second;
    std::vector<MemberStatus> status = statuses_of(*seating, pool, *view);
    if (same_seating && old->status == status && *old->pool == pool)
      return std::make_shared<const BuiltPool>(BuiltPool{shared, seating, std::move(status), old->built});

    // What was planned is at hand; else they are made from the pool's rows before, where there are any.
    const RecentRows::Shared rows = recent->get(seating, status, pool.rules());
    auto built = std::make_shared<SnapshotPool>(
        SnapshotPool{.name = pool.name,
                     .id = old != nullptr ? old->built->id : PoolId{pools_numbered++},
                     .seed = seating->seed,
                     .affinity = pool.affinity,
                     .encapsulation = pool.encapsulation,
                     .hops = pool.rules().hops,
                     .gue_port = pool.gue_port,
                     .udp_checksum = pool.udp_checksum,
                     .copy_tos = pool.copy_tos,
                     .flow_table = pool.flow_table,
                     .too_big = pool.too_big,
                     .timeouts = pool.timeouts,
                     .outer_source = spreads(pool) ? sources.spread->address : *outer_source(pool),
                     .outer_source_spread = spreads(pool) ? ~std::uint32_t{0} >> sources.spread->length : 0,
                     .rows = RowTable({rows, &rows->rows()})});
    identify(*built, pool, *seating, old);
    tell_who_keeps_flows(*built, pool, *seating, status);
    return std::make_shared<const BuiltPool>(BuiltPool{shared, seating, std::move(status), std::move(built)});
  }

  // Whether all backends and their timeouts are those of the newest snapshot, so that their ids are, too.
  bool has_all_backends(const Site& site) const {
    return site.pools.size() == pools.size() &&
           std::all_of(site.pools.begin(), site.pools.end(), [&](const Pool& pool) {
             const auto found = pools.find(pool.name);
             if (found == pools.end()) return false;
             const Pool& old = *found->second->pool;
             return &old == &pool || (old.timeouts == pool.timeouts && same_backends(old, pool));
           });
  }

  Result<void> assign_ids(const Site& site, milliseconds now, Replaced& old) {
    std::vector<BackendIdentity> present;
    for (const Pool& pool : site.pools)
      for (const Backend& backend : pool.backends) present.push_back(identity(pool, backend));
    old.backend_ids = backend_ids;
    return backend_ids.assign(std::move(present), now, longest_timeout(site));
  }

  void name_services(const Site& site, Replaced& old) {
    const bool same = site.services.size() == service_ids.size() &&
                      std::all_of(site.services.begin(), site.services.end(),
                                  [&](const Service& s) { return service_ids.find(s.name).has_value(); });
    if (same) return;
    old.service_ids = service_ids;
    std::vector<std::string> services;
    for (const Service& service : site.services) services.push_back(service.name);
    service_ids.assign(services);
  }
};

Result<std::shared_ptr<const Snapshot>> SnapshotBuilder::Impl::build(const SiteVersion& version,
                                                                     const SharedHealthView& view,
                                                                     milliseconds now, Replaced& old) {
  Result<std::vector<NextHopLease>> held;  // until every pool has its own
  if (!has_all_backends(version.site)) {
    held = check(version.site);
    if (!held) return tl::unexpected(std::move(held.error()));
    if (auto assigned = assign_ids(version.site, now, old); !assigned)
      return tl::unexpected(std::move(assigned.error()));
  }
  name_services(version.site, old);
  BuiltPools built;
  for (std::size_t i = 0; i < version.site.pools.size(); ++i)
    built.emplace(version.site.pools[i].name, build_pool(version, version.site.pools.share(i), view));
  old.pools = std::exchange(pools, std::move(built));
  old.health = std::exchange(health, view);

  auto out = std::make_shared<Snapshot>();
  out->epoch = version.epoch;
  out->backends.resize(backend_ids.end());
  std::map<std::string_view, std::size_t> places;
  for (const Pool& pool : version.site.pools) {
    places.emplace(pool.name, out->pools.size());
    out->add_pool(pools.at(pool.name)->built);
  }
  std::vector<ServiceRule> numbered = service_rules(version.site);
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    const Service& service = version.site.services[i];
    const ServiceId id = *service_ids.find(service.name);
    const std::size_t place = places.at(service.pool);
    static_assert(service_ids_max <= 1U << 16 && pools_max <= 1U << 16, "both fit");
    numbered[i].service = static_cast<std::uint16_t>(id);
    numbered[i].pool = static_cast<std::uint16_t>(place);
    out->services.push_back({service.name, id, out->pools[place].get()});
  }
  if (numbered != rules) {
    lookup = ServiceTable::build(numbered);
    rules = std::move(numbered);
  }
  out->lookup = lookup;
  return out;
}

SnapshotBuilder::SnapshotBuilder(OuterSources sources, NextHops& next_hops,
                                 std::shared_ptr<RecentRows> recent)
    : impl_(std::make_unique<Impl>(std::move(sources), next_hops, std::move(recent))) {}
SnapshotBuilder::~SnapshotBuilder() = default;

Result<std::shared_ptr<const Snapshot>> SnapshotBuilder::build(const SiteVersion& version,
                                                               const SharedHealthView& health,
                                                               milliseconds now) {
  // A refusal changes nothing, nor does an exception: what has been replaced by then is put back.
  Replaced& old = impl_->replaced.emplace();
  old.pools_numbered = impl_->pools_numbered;
  try {
    const auto view = health != nullptr ? health : std::make_shared<const HealthView>();
    auto out = impl_->build(version, view, now, old);
    if (!out) impl_->take_back();
    return out;
  } catch (...) {
    impl_->take_back();
    throw;
  }
}

void SnapshotBuilder::take_back() { impl_->take_back(); }

}  // namespace guideway
