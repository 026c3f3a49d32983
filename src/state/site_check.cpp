#include "state/site_check.h"
#include "state/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "guideway/name.h"
#include "state/duration.h"
#include "state/prefix.h"
#include "state/quantity.h"
#include "state/range.h"
#include "state/service_cover.h"
#include "state/site_file.h"
#include "state/words.h"
#include "tables/members.h"
#include "tables/quota.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

using std::chrono::milliseconds;
using Fault = std::optional<SiteFault>;

SiteFault fault(SitePlace place, std::string what, std::string next) {
  return {place, Error{ErrorKind::invalid, std::move(what), {}, std::move(next)}};
}

SiteFault fault(SitePlace place, Error error) { return {place, std::move(error)}; }

Fault check_name(SitePlace place, std::string_view kind, const std::string& name) {
  if (is_name(name)) return std::nullopt;
  place.field = "name";
  if (name.empty()) return fault(place, fmt::format("{} has no name", kind), "add name = …");
  if (name.size() > name_size_max)
    return fault(place, fmt::format("name has {} bytes", name.size()),
                 fmt::format("use at most {}", name_size_max));
  return fault(place, fmt::format("name \"{}\" has a character that names cannot have", excerpt(name)),
               "use letters, digits, '.', '_' and '-'");
}

// --- Pools ---

Fault check_rows(SitePlace place, std::uint32_t rows) {
  place.field = "rows";
  if (auto good = check_row_count(rows); !good) return fault(place, good.error());
  return std::nullopt;
}

Fault check_timeouts(SitePlace place, const FlowTimeouts& timeouts) {
  constexpr std::int64_t shortest_ms = 100, longest_ms = 7 * 24 * 3'600'000;
  place.section = "timeouts";
  const std::array<std::pair<std::string_view, std::uint32_t>, 4> all{
      {{"new", timeouts.fresh_ms},
       {"established", timeouts.established_ms},
       {"closing", timeouts.closing_ms},
       {"udp", timeouts.udp_ms}}};
  for (const auto& [name, value] : all) {
    if (value >= shortest_ms && value <= longest_ms) continue;
    place.field = name;
    return fault(place,
                 fmt::format("timeout {} of {} is out of range", name, print_duration(milliseconds(value))),
                 "use 100ms to 168h");
  }
  return std::nullopt;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

Fault check_health(SitePlace place, const HealthCheck& health) {
  place.section = "health";
  const auto at = [&](std::string_view field) {
    place.field = field;
    return place;
  };
  if (health.through_tunnel)
    return fault(at("through_tunnel"), "health checks through the tunnel are not built yet",
                 "leave through_tunnel out; checks go straight to the backend's address");
  if (health.type != HealthCheckType::none && health.port == 0)
    return fault(at("port"), "the health check has no port", "add port = 1 to 65535");
  if (health.initial == Health::unknown)
    return fault(at("initial"), "initial \"unknown\" decides nothing", "use up or down");
  if (health.interval < milliseconds(100) || health.interval > milliseconds(3'600'000))
    return fault(at("interval"), fmt::format("interval {} is out of range", print_duration(health.interval)),
                 "use 100ms to 1h");
  if (health.timeout < milliseconds(10) || health.timeout > health.interval)
    return fault(at("timeout"),
                 fmt::format("timeout {} does not fit interval {}", print_duration(health.timeout),
                             print_duration(health.interval)),
                 "use 10ms to the interval");
  if (auto error = out_of_range("rise", health.rise, 1, 255)) return fault(at("rise"), *error);
  if (auto error = out_of_range("fall", health.fall, 1, 255)) return fault(at("fall"), *error);
  if (health.path.empty() || health.path.front() != '/' || health.path.size() > 1024 ||
      !is_printable(health.path))
    return fault(at("path"), "path is no HTTP path",
                 "begin it with '/', percent-encode blanks and other bytes, at most 1024 of them");
  if (health.host.size() > 253 || !is_printable(health.host))
    return fault(at("host"), "host is no host name", "use at most 253 printable characters without blanks");
  return std::nullopt;
}

Fault check_backends(SitePlace place, const Pool& pool) {
  if (pool.backends.size() > members_max) {
    place.field = "backend";
    return fault(place, fmt::format("{} backends are more than a pool can have", pool.backends.size()),
                 fmt::format("use at most {}", members_max));
  }
  std::set<std::string_view> names;
  std::map<IpAddress, std::string_view> addresses;
  for (std::size_t i = 0; i < pool.backends.size(); ++i) {
    const Backend& backend = pool.backends[i];
    place.backend = i;
    const auto at = [&](std::string_view field) {
      place.field = field;
      return place;
    };
    if (auto bad = check_name(place, "backend", backend.name)) return bad;
    if (!names.insert(backend.name).second)
      return fault(at("name"), fmt::format("pool \"{}\" has two backends \"{}\"", pool.name, backend.name),
                   "rename or remove one");
    if (auto error = bad_weight(backend.weight)) return fault(at("weight"), *error);
    if (!is_unicast(backend.address) || is_loopback(backend.address))
      return fault(at("address"), fmt::format("address {} is no host's address", backend.address.text()),
                   "give the backend's own unicast address");
    if (backend.address.family != pool.backends.front().address.family)
      return fault(at("address"),
                   fmt::format("address {} is of another family than {} of \"{}\"", backend.address.text(),
                               pool.backends.front().address.text(), pool.backends.front().name),
                   "a pool has IPv4 or IPv6 backends; make a second pool for the others");
    if (auto [other, fresh] = addresses.emplace(backend.address, backend.name); !fresh)
      return fault(at("address"),
                   fmt::format("address {} is already that of \"{}\"", backend.address.text(), other->second),
                   "addresses are unique within a pool; correct or remove one");
  }
  return std::nullopt;
}

Fault check_pool(SitePlace place, const Pool& pool) {
  const auto at = [&](std::string_view field) {
    SitePlace out = place;
    out.field = field;
    return out;
  };
  if (auto bad = check_name(place, "pool", pool.name)) return bad;
  if (auto bad = check_rows(place, pool.rows)) return bad;
  if (auto error = out_of_range("hops", pool.hop_rules.hops, 1, 3)) return fault(at("hops"), *error);
  if (!(pool.hop_rules.panic >= 0 && pool.hop_rules.panic <= 1))
    return fault(at("panic"), fmt::format("panic {} is no share", pool.hop_rules.panic), "use 0.0 to 1.0");
  if (pool.gue_port == 0) return fault(at("gue_port"), "gue_port 0 is below 1", "use 1 to 65535");
  if (auto bad = check_timeouts(place, pool.timeouts)) return bad;
  if (auto bad = check_health(place, pool.health)) return bad;
  return check_backends(place, pool);
}

Fault check_pools(const Site& site, const SharedWith<Pool>& checked) {
  if (site.pools.size() > pools_max)
    return fault({}, fmt::format("{} pools are too many", site.pools.size()),
                 fmt::format("use at most {}", pools_max));
  std::set<std::string_view> names;
  std::size_t backends = 0;
  std::uint64_t rows = 0;
  for (std::size_t i = 0; i < site.pools.size(); ++i) {
    SitePlace place;
    place.pool = i;
    if (!checked.contains(site.pools[i]))
      if (auto bad = check_pool(place, site.pools[i])) return bad;
    place.field = "name";
    if (!names.insert(site.pools[i].name).second)
      return fault(place, fmt::format("two pools are called \"{}\"", site.pools[i].name),
                   "rename or remove one");
    backends += site.pools[i].backends.size();
    rows += site.pools[i].rows;
    place.field = "rows";
    if (rows > rows_total_max)
      return fault(place,
                   fmt::format("the pools up to this one have {} rows together, above {}", grouped(rows),
                               grouped(rows_total_max)),
                   "use fewer rows: 100 for each backend of a pool are plenty");
  }
  // Half of the ids are left for backends that were removed while flow-table entries can still hold them.
  if (backends > backend_ids_max / 2)
    return fault({}, fmt::format("{} backends in all pools are too many", backends),
                 fmt::format("use at most {}", backend_ids_max / 2));
  return std::nullopt;
}

// --- Services ---

Fault check_ports(SitePlace place, const Service& service) {
  place.field = "ports";
  if (service.ports.size() > port_ranges_max)
    return fault(place, fmt::format("{} ports and ranges are too many", service.ports.size()),
                 fmt::format("use at most {}, or \"any\"", port_ranges_max));
  for (std::size_t i = 0; i < service.ports.size(); ++i) {
    const PortRange range = service.ports[i];
    if (range.first == 0) return fault(place, "port 0 is below 1", "use 1 to 65535");
    if (range.first > range.last)
      return fault(place, fmt::format("range {}-{} runs backwards", range.first, range.last),
                   fmt::format("write {}-{}", range.last, range.first));
    if (i > 0 && service.ports[i - 1].last >= range.first)
      return fault(place, fmt::format("port {} is named twice", range.first),
                   "name each port once, in ascending order");
  }
  return std::nullopt;
}

Fault check_service(SitePlace place, const Service& service, const Site& site,
                    const std::set<std::string_view>& pools) {
  const auto at = [&](std::string_view field) {
    place.field = field;
    return place;
  };
  if (auto bad = check_name(place, "service", service.name)) return bad;
  if (service.prefix_length > prefix_length_max(service.address.family))
    return fault(at("address"), fmt::format("prefix length {} is too long", service.prefix_length),
                 fmt::format("use at most {}", prefix_length_max(service.address.family)));
  if (const IpAddress network = network_of(service.address, service.prefix_length);
      network != service.address)
    return fault(at("address"),
                 fmt::format("address {}/{} has bits behind its prefix", service.address.text(),
                             service.prefix_length),
                 fmt::format("write {}/{}", network.text(), service.prefix_length));
  if (!is_unicast(service.address) || service.prefix_length == 0)
    return fault(at("address"), fmt::format("address {} is no service's address", service.address.text()),
                 "give a unicast address or prefix");
  if (service.protocol != protocol_tcp && service.protocol != protocol_udp)
    return fault(at("protocol"), fmt::format("protocol {} is not known", service.protocol), "use tcp or udp");
  if (auto bad = check_ports(place, service)) return bad;
  if (!pools.contains(service.pool)) {
    std::vector<std::string> names;
    for (const Pool& pool : site.pools) names.push_back(pool.name);
    return fault(at("pool"), fmt::format("there is no pool \"{}\"", excerpt(service.pool)),
                 advice_for(service.pool, names, "the site"));
  }
  return std::nullopt;
}

// Services that claim the same ports of the same address in the same way, so that only their order would decide.
// (A port wins over a range, a range over any, a longer prefix over a shorter one: that is no conflict.)
Fault check_claims(const Site& site) {
  enum class Claim : std::uint8_t { port, range, any };
  using Key = std::tuple<IpAddress, std::uint8_t, std::uint8_t, Claim>;
  std::map<Key, std::map<std::uint16_t, std::pair<std::uint16_t, std::size_t>>>
      claims;  // first -> (last, service)
  for (std::size_t i = 0; i < site.services.size(); ++i) {
    const Service& service = site.services[i];
    SitePlace place;
    place.service = i;
    const auto claim = [&](Claim kind, PortRange range) -> Fault {
      auto& taken = claims[{service.address, service.prefix_length, service.protocol, kind}];
      auto next = taken.upper_bound(range.last);
      if (next != taken.begin() && std::prev(next)->second.first >= range.first) {
        const auto& [last, other] = std::prev(next)->second;
        place.field = site.services[i].ports.empty() ? "address" : "ports";
        const std::uint16_t shared = std::max(std::prev(next)->first, range.first);
        return fault(
            place,
            fmt::format("{} {} {} belongs to service \"{}\" already", protocol_word(service.protocol),
                        service.address.text(),
                        kind == Claim::any ? std::string("on any port") : fmt::format("port {}", shared),
                        site.services[other].name),
            "take it out of one of the two");
      }
      taken.emplace(range.first, std::pair{range.last, i});
      return std::nullopt;
    };
    if (service.ports.empty())
      if (auto bad = claim(Claim::any, {0, 65535})) return bad;
    for (const PortRange& range : service.ports)
      if (auto bad = claim(range.first == range.last ? Claim::port : Claim::range, range)) return bad;
  }
  return std::nullopt;
}

// A backend whose own address belongs to a service would get its packets back from the director: a loop. `checked`:
// pools that are known to have none with these services.
Fault check_loops(const Site& site, const SharedWith<Pool>& checked) {
  std::map<std::pair<Family, std::uint8_t>, std::map<IpAddress, std::size_t>> networks;
  for (std::size_t i = 0; i < site.services.size(); ++i)
    networks[{site.services[i].address.family, site.services[i].prefix_length}].emplace(
        site.services[i].address, i);
  for (std::size_t p = 0; p < site.pools.size(); ++p) {
    if (checked.contains(site.pools[p])) continue;
    for (std::size_t b = 0; b < site.pools[p].backends.size(); ++b) {
      const IpAddress& address = site.pools[p].backends[b].address;
      for (const auto& [kind, members] : networks) {
        if (kind.first != address.family) continue;
        const auto found = members.find(network_of(address, kind.second));
        if (found == members.end()) continue;
        SitePlace place;
        place.pool = p;
        place.backend = b;
        place.field = "address";
        return fault(place,
                     fmt::format("address {} belongs to service \"{}\"", address.text(),
                                 site.services[found->second].name),
                     "give the backend's own address; the service's address is only on its loopback");
      }
    }
  }
  return std::nullopt;
}

Fault check_services(const Site& site) {
  if (site.services.size() > services_max)
    return fault({}, fmt::format("{} services are too many", site.services.size()),
                 fmt::format("use at most {}", services_max));
  std::set<std::string_view> pools, names;
  for (const Pool& pool : site.pools) pools.insert(pool.name);
  for (std::size_t i = 0; i < site.services.size(); ++i) {
    SitePlace place;
    place.service = i;
    if (auto bad = check_service(place, site.services[i], site, pools)) return bad;
    place.field = "name";
    if (!names.insert(site.services[i].name).second)
      return fault(place, fmt::format("two services are called \"{}\"", site.services[i].name),
                   "rename or remove one");
  }
  return check_claims(site);
}

// Services refer to their pools by name.
bool has_all_pools_of(const Site& site, const Site& good, const SharedWith<Pool>& checked) {
  std::set<std::string_view> gone;
  const SharedWith<Pool> present(site.pools);
  for (const Pool& pool : good.pools)
    if (!present.contains(pool)) gone.insert(pool.name);
  for (const Pool& pool : site.pools)
    if (!checked.contains(pool)) gone.erase(pool.name);
  return gone.empty();
}

std::string describe(const Site& site, const SitePlace& place) {
  std::string out;
  const auto add = [&](std::string_view kind, const std::string& name, std::size_t index) {
    if (!out.empty()) out += ", ";
    out +=
        is_name(name) ? fmt::format("{} \"{}\"", kind, name) : fmt::format("{} number {}", kind, index + 1);
  };
  if (place.pool) add("pool", site.pools[*place.pool].name, *place.pool);
  if (place.backend) add("backend", site.pools[*place.pool].backends[*place.backend].name, *place.backend);
  if (place.service) add("service", site.services[*place.service].name, *place.service);
  return out.empty() ? "site" : out;
}

}  // namespace

std::optional<SiteFault> first_fault(const Site& site) { return first_fault(site, Site{}); }

std::optional<SiteFault> first_fault(const Site& site, const Site& good) {
  const SharedWith<Pool> checked(good.pools);
  if (auto bad = check_pools(site, checked)) return bad;
  if (site.services.shares(good.services) && has_all_pools_of(site, good, checked))
    return check_loops(site, checked);
  if (auto bad = check_services(site)) return bad;
  return check_loops(site, SharedWith<Pool>({}));
}

Result<void> check_site(const Site& site) { return check_site(site, Site{}); }

Result<void> check_site(const Site& site, const Site& good) {
  auto bad = first_fault(site, good);
  if (!bad) return {};
  bad->error.where = describe(site, bad->place);
  return tl::unexpected(std::move(bad->error));
}

namespace {

// Whether somebody may get no row. Who is entitled to a whole one gets it, so nobody is asked for who that is in nearly
// every pool, whose quotas would cost more than the rest of a plan.
bool may_be_rowless(const Pool& pool) {
  std::uint64_t total = 0, least = weight_max;
  for (const Backend& backend : pool.backends) {
    total += backend.weight;
    least = std::min<std::uint64_t>(least, backend.weight);
  }
  return least * pool.rows < total;
}

// More backends than rows, or weights too far apart.
std::optional<std::string> rowless_warning(const Pool& pool) {
  if (!may_be_rowless(pool)) return std::nullopt;
  std::vector<Member> members;
  for (const Backend& backend : pool.backends) members.push_back({backend.name, backend.weight});
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  const std::vector<std::uint32_t> quota = quotas(members, pool.rows);
  std::vector<std::string> rowless;
  for (std::size_t i = 0; i < quota.size(); ++i)
    if (quota[i] == 0) rowless.push_back(members[i].name);
  if (rowless.empty()) return std::nullopt;
  return fmt::format(
      "pool \"{}\": {} of {} backends get none of the {} rows: {}; use more rows, or weights closer to each "
      "other",
      pool.name, rowless.size(), members.size(), pool.rows, some_of(rowless));
}

}  // namespace

std::vector<std::string> warnings_of(const Site& site) {
  std::vector<std::string> out;
  std::set<std::string_view> used;
  std::map<std::pair<IpAddress, std::uint8_t>, const Service*> addresses;
  for (const Service& service : site.services) {
    used.insert(service.pool);
    const auto [first, fresh] =
        addresses.emplace(std::pair{service.address, service.prefix_length}, &service);
    if (!fresh && (first->second->ping != service.ping || first->second->unmatched != service.unmatched))
      out.push_back(
          fmt::format("service \"{}\": ping and unmatched are those of \"{}\", the first service on {}; "
                      "write the same in both",
                      service.name, first->second->name, service.address.text()));
  }
  for (const std::string& name : hidden_services(site))
    out.push_back(fmt::format(
        "service \"{}\" gets no packet: other services take all that it asks for (`guideway check` "
        "tells which); change or remove it",
        name));
  if (site.services.empty()) out.emplace_back("no services: nothing would be served");
  bool seedless = false;
  for (const Pool& pool : site.pools) {
    seedless = seedless || !pool.seed;
    if (auto warning = rowless_warning(pool)) out.push_back(std::move(*warning));
    if (!used.contains(pool.name))
      out.push_back(fmt::format("pool \"{}\": no service uses it; add one or remove the pool", pool.name));
    else if (std::none_of(pool.backends.begin(), pool.backends.end(),
                          [](const Backend& b) { return b.state == BackendState::active; }))
      out.push_back(fmt::format(
          "pool \"{}\": no backend is active, so new flows are dropped; add or undrain one", pool.name));
  }
  if (!site.hash_seed && seedless)
    out.push_back(
        "hash_seed is absent: it counts as 0, and an attacker who knows that can choose the rows of its "
        "flows; "
        "write a random hash_seed = \"0x…\" (16 hex digits) before the site serves");
  return out;
}

}  // namespace guideway
