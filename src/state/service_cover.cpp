#include "state/service_cover.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "state/port_claims.h"
#include "state/prefix.h"

namespace guideway {
namespace {

constexpr std::uint32_t ports_end = 65536;

ServiceRule rule_of(const Service& service, std::size_t index) {
  return {.address = service.address,
          .prefix_length = service.prefix_length,
          .protocol = service.protocol,
          .ports = service.ports,
          .service = static_cast<std::uint16_t>(index),
          .unmatched_drop = service.unmatched == Unmatched::drop,
          .ping = static_cast<std::uint8_t>(service.ping)};
}

// The first address behind a prefix; nullopt behind the last one of all.
std::optional<IpAddress> behind(const IpAddress& address, std::uint8_t length) {
  IpAddress out = address;
  for (std::size_t bit = length; bit > 0; --bit) {
    auto& byte = out.bytes[(bit - 1) / 8];
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit - 1) % 8);
    byte ^= mask;
    if ((byte & mask) != 0) return out;
  }
  return std::nullopt;
}

// Services of several sites by their prefix and protocol, so that those that share packets with another are found without
// looking at all.
class Prefixes {
 public:
  explicit Prefixes(const std::vector<const Service*>& services) {
    std::map<Key, std::map<std::uint8_t, std::vector<const Service*>>> sorted;
    for (const Service* service : services) {
      sorted[{service->address, service->prefix_length}][service->protocol].push_back(service);
      lengths_.insert(service->prefix_length);
    }
    for (const auto& [prefix, protocols] : sorted)
      for (const auto& [protocol, those] : protocols) claims_[prefix].emplace(protocol, PortClaims(those));
  }
  // Calls on every service of the protocol that shares an address and a port with `service`.
  template <class Visit>
  void overlapping(const Service& service, Visit visit) const {
    for (const std::uint8_t length : lengths_) {
      if (length >= service.prefix_length) break;
      const auto around = claims_.find({network_of(service.address, length), length});
      if (around != claims_.end()) visit_some(around->second, service, visit);
    }
    for (auto at = claims_.lower_bound({service.address, 0}); at != claims_.end(); ++at) {
      const auto& [address, length] = at->first;
      if (address.family != service.address.family ||
          network_of(address, service.prefix_length) != service.address)
        break;
      if (length >= service.prefix_length) visit_some(at->second, service, visit);
    }
  }

 private:
  using Key = std::pair<IpAddress, std::uint8_t>;
  using Protocols = std::map<std::uint8_t, PortClaims>;
  template <class Visit>
  static void visit_some(const Protocols& protocols, const Service& service, Visit visit) {
    const auto found = protocols.find(service.protocol);
    if (found == protocols.end()) return;
    for (const Service* other : found->second.sharing(service)) visit(*other);
  }
  std::map<Key, Protocols> claims_;
  std::set<std::uint8_t> lengths_;
};

void append(std::vector<const Service*>& out, const SharedList<Service>& services) {
  for (const Service& service : services) out.push_back(&service);
}

Prefixes prefixes_of(const Site& site) {
  std::vector<const Service*> services;
  append(services, site.services);
  return Prefixes(services);
}

// The borders at which another service may begin or end.
struct Borders {
  std::set<IpAddress> addresses;
  std::set<std::uint32_t> ports{0, ports_end};
};

Borders borders_of(const Service& service, const Prefixes& all) {
  Borders out;
  all.overlapping(service, [&](const Service& other) {
    if (other.prefix_length >= service.prefix_length) {
      out.addresses.insert(other.address);
      if (const auto next = behind(other.address, other.prefix_length);
          next && network_of(*next, service.prefix_length) == service.address)
        out.addresses.insert(*next);
    }
    for (const PortRange& range : other.ports) {
      out.ports.insert(range.first);
      out.ports.insert(range.last + 1U);
    }
  });
  return out;
}

// Two sites and their tables.
struct Pair {
  const Site &before, &after;
  ServiceTable table_before, table_after;

  enum class Fate : std::uint8_t { not_its, kept, elsewhere, unserved };
  [[nodiscard]] Fate fate(std::size_t index, const IpAddress& address, std::uint16_t port) const {
    const Service& service = before.services[index];
    const auto ask = [&](const ServiceTable& table) {
      return table.find(address.family, address.bytes.data(), service.protocol, port);
    };
    const ServiceMatch was = ask(table_before);
    if (was.kind != ServiceMatch::Kind::service || was.service != index) return Fate::not_its;
    const ServiceMatch is = ask(table_after);
    if (is.kind != ServiceMatch::Kind::service) return Fate::unserved;
    return after.services[is.service].pool == service.pool ? Fate::kept : Fate::elsewhere;
  }
};

void add_range(std::vector<PortRange>& ranges, std::uint32_t begin, std::uint32_t end) {
  if (!ranges.empty() && ranges.back().last + 1U == begin)
    ranges.back().last = static_cast<std::uint16_t>(end - 1);
  else
    ranges.push_back({static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(end - 1)});
}

// What service `index` of before loses; nullopt when nothing.
std::optional<ServiceCut> cut_of(const Pair& sites, std::size_t index, const Borders& borders) {
  ServiceCut out{sites.before.services[index].name, {}, false, true};
  bool kept_some = false, lost_some = false;
  for (auto port = borders.ports.begin(); std::next(port) != borders.ports.end(); ++port) {
    bool lost_here = false, kept_here = false;
    for (const IpAddress& address : borders.addresses) {
      const Pair::Fate fate = sites.fate(index, address, static_cast<std::uint16_t>(*port));
      if (fate == Pair::Fate::not_its) continue;
      (fate == Pair::Fate::kept ? kept_here : lost_here) = true;
      if (fate == Pair::Fate::elsewhere) out.unserved = false;
    }
    if (lost_here) add_range(out.ports, *port, *std::next(port));
    out.some_addresses = out.some_addresses || (lost_here && kept_here);
    lost_some = lost_some || lost_here;
    kept_some = kept_some || (kept_here && !lost_here);
  }
  if (!lost_some) return std::nullopt;
  if (!kept_some) out.ports.clear();
  return out;
}

// Whether service `index` gets any of the packets that it asks for.
bool gets_any(const Site& site, const ServiceTable& table, std::size_t index, const Prefixes& all) {
  const Service& service = site.services[index];
  const auto gets = [&](const IpAddress& address, std::uint32_t port) {
    const ServiceMatch match =
        table.find(address.family, address.bytes.data(), service.protocol, static_cast<std::uint16_t>(port));
    return match.kind == ServiceMatch::Kind::service && match.service == index;
  };
  // Nearly every service gets the first of what it asks for.
  if (gets(service.address, service.ports.empty() ? 1 : service.ports.front().first)) return true;
  const Borders borders = borders_of(service, all);
  for (const std::uint32_t port : borders.ports)
    for (const IpAddress& address : borders.addresses)
      if (port != ports_end && gets(address, port)) return true;
  return false;
}

// Ports that both ask for and `winner` gets: all of them by a longer prefix, else those it names more narrowly. Empty:
// any; nullopt: none.
std::optional<std::vector<PortRange>> ports_won(const Service& winner, const Service& loser) {
  static const std::vector<PortRange> any{{0, ports_end - 1}};
  const auto ports_of = [](const Service& service) -> const std::vector<PortRange>& {
    return service.ports.empty() ? any : service.ports;
  };
  const auto width = [](const Service& service, const PortRange& range) {
    return service.ports.empty() ? 2 : range.first == range.last ? 0 : 1;
  };
  std::vector<PortRange> out;
  for (const PortRange& mine : ports_of(winner)) {
    for (const PortRange& its : ports_of(loser)) {
      const PortRange shared{std::max(mine.first, its.first), std::min(mine.last, its.last)};
      if (shared.first > shared.last) continue;
      if (winner.prefix_length > loser.prefix_length || width(winner, mine) < width(loser, its))
        out.push_back(shared);
    }
  }
  if (out.empty()) return std::nullopt;
  if (out == any) out.clear();
  return out;
}

bool has_connections(const Pool* pool) {
  return pool != nullptr && std::any_of(pool->backends.begin(), pool->backends.end(),
                                        [](const Backend& b) { return b.state != BackendState::disabled; });
}

}  // namespace

std::vector<ServiceRule> service_rules(const Site& site) {
  static_assert(service_ids_max <= 1U << 16, "an index fits");
  std::vector<ServiceRule> rules;
  rules.reserve(site.services.size());
  for (std::size_t i = 0; i < site.services.size(); ++i) rules.push_back(rule_of(site.services[i], i));
  return rules;
}

ServiceTable service_table(const Site& site) { return ServiceTable::build(service_rules(site)); }

std::vector<ServiceOverlap> service_overlaps(const Site& site) {
  const Prefixes all = prefixes_of(site);
  std::vector<ServiceOverlap> out;
  for (const Service& loser : site.services) {
    all.overlapping(loser, [&](const Service& winner) {
      if (&winner == &loser || winner.prefix_length < loser.prefix_length) return;
      if (auto ports = ports_won(winner, loser))
        out.push_back({winner.name, loser.name, winner.address, winner.prefix_length, winner.protocol,
                       std::move(*ports)});
    });
  }
  return out;
}

std::vector<std::string> hidden_services(const Site& site) {
  // Single ports of the longest prefixes are nobody else's. Where there is nothing but those, as in most large sites,
  // no table is made: every plan asks.
  std::map<Family, std::uint8_t> longest;
  for (const Service& service : site.services)
    longest[service.address.family] = std::max(longest[service.address.family], service.prefix_length);
  const auto is_safe = [&](const Service& service) {
    return service.prefix_length == longest[service.address.family] && !service.ports.empty() &&
           std::all_of(service.ports.begin(), service.ports.end(),
                       [](const PortRange& range) { return range.first == range.last; });
  };
  if (std::all_of(site.services.begin(), site.services.end(), is_safe)) return {};
  const Prefixes all = prefixes_of(site);
  const ServiceTable table = service_table(site);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < site.services.size(); ++i)
    if (!is_safe(site.services[i]) && !gets_any(site, table, i, all)) out.push_back(site.services[i].name);
  return out;
}

std::string ports_text(const std::vector<PortRange>& ports) {
  if (ports.empty()) return "any";
  std::string out;
  for (const PortRange& range : ports) {
    if (!out.empty()) out += ",";
    out += std::to_string(range.first);
    if (range.last != range.first) out += "-" + std::to_string(range.last);
  }
  return out;
}

std::vector<ServiceCut> services_cut(const Site& before, const Site& after) {
  if (before.services == after.services) return {};
  std::map<std::string_view, const Service*> old_ones, new_ones;
  for (const Service& service : before.services) old_ones.emplace(service.name, &service);
  for (const Service& service : after.services) new_ones.emplace(service.name, &service);
  const auto same_in = [](const auto& others, const Service& service) {
    const auto found = others.find(service.name);
    return found != others.end() && *found->second == service;
  };
  std::vector<const Service*> in_either, new_or_other;
  append(in_either, before.services);
  append(in_either, after.services);
  for (const Service& service : after.services)
    if (!same_in(old_ones, service)) new_or_other.push_back(&service);
  const Prefixes all(in_either), changed(new_or_other);
  const Pair sites{before, after, service_table(before), service_table(after)};
  std::vector<ServiceCut> out;
  for (std::size_t i = 0; i < before.services.size(); ++i) {
    const Service& service = before.services[i];
    bool touched = !same_in(new_ones, service);
    if (!touched) changed.overlapping(service, [&](const Service&) { touched = true; });
    if (!touched || !has_connections(before.find_pool(service.pool))) continue;
    if (auto cut = cut_of(sites, i, borders_of(service, all))) out.push_back(std::move(*cut));
  }
  return out;
}

}  // namespace guideway
