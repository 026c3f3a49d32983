#include "command/site_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/values.h"
#include "state/duration.h"
#include "state/service_cover.h"
#include "state/words.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

using nlohmann::json;

template <class List, class T = typename List::value_type>
Result<const T*> find_named(const List& objects, std::string_view name, std::string_view kind,
                            std::string_view place, std::string none) {
  std::vector<std::string> known;
  for (const T& object : objects) {
    if (object.name == name) return &object;
    known.push_back(object.name);
  }
  return fail(ErrorKind::not_found, fmt::format("there is no {} \"{}\"", kind, name), std::string(place),
              known.empty() ? std::move(none) : advice_for(name, known, "it"));
}

json check_json(const HealthCheck& check) {
  json out{{"type", word(check.type)}};
  if (check.type == HealthCheckType::none) return out;
  out["port"] = check.port;
  if (check.type == HealthCheckType::http) out["path"] = check.path;
  if (!check.host.empty()) out["host"] = check.host;
  out["interval"] = print_duration(check.interval);
  out["timeout"] = print_duration(check.timeout);
  out["rise"] = check.rise;
  out["fall"] = check.fall;
  out["through_tunnel"] = check.through_tunnel;
  out["initial"] = word(check.initial);
  return out;
}

std::string milliseconds_text(std::uint32_t span) { return print_duration(std::chrono::milliseconds(span)); }

}  // namespace

Result<const Pool*> pool_of(const Site& site, std::string_view name) {
  return find_named(site.pools, name, "pool", "site", "the site has no pool; add one with `pool add`");
}

Result<const Service*> service_of(const Site& site, std::string_view name) {
  return find_named(site.services, name, "service", "site",
                    "the site has no service; add one with `service add`");
}

Result<const Backend*> backend_of(const Pool& pool, std::string_view name) {
  return find_named(pool.backends, name, "backend", "pool " + pool.name,
                    fmt::format("the pool is empty; add one with `backend add {} NAME ADDRESS`", pool.name));
}

std::map<std::string, Share> shares_of(Context& context, const Pool& pool) {
  std::map<std::string, Share> out;
  const SiteVersion& version = context.version();
  const Seating& seating = *version.seatings.at(pool.name);
  std::vector<Share> shares(seating.members.size());
  for (const MemberIndex holder : seating.holder) {
    if (holder < shares.size()) ++shares[holder].seats;
  }
  const RowTable::Shared rows = rows_of(version, pool, context.health(), context.recent_rows());
  for (const Row& row : *rows) {
    if (row.takes_new != 0 && row.hop[0] < shares.size()) ++shares[row.hop[0]].first_rows;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) out.emplace(seating.members[i].name, shares[i]);
  return out;
}

Health health_of(const HealthView& health, const std::string& pool, const std::string& backend) {
  const auto in_pool = health.find(pool);
  if (in_pool == health.end()) return Health::unknown;
  const auto found = in_pool->second.find(backend);
  return found == in_pool->second.end() ? Health::unknown : found->second;
}

std::string service_target(const Service& service) {
  return fmt::format("{} {} {}", protocol_word(service.protocol),
                     prefix_text(service.address, service.prefix_length), ports_text(service.ports));
}

json service_json(const Service& service) {
  return {{"name", service.name},
          {"address", prefix_text(service.address, service.prefix_length)},
          {"protocol", protocol_word(service.protocol)},
          {"ports", ports_text(service.ports)},
          {"pool", service.pool},
          {"unmatched", word(service.unmatched)},
          {"ping", word(service.ping)}};
}

json settings_json(const Pool& pool) {
  return {{"name", pool.name},
          {"encapsulation", word(pool.encapsulation)},
          {"rows", pool.rows},
          {"affinity", word(pool.affinity)},
          {"hops", pool.hop_rules.hops},
          {"panic", pool.hop_rules.panic},
          {"none_healthy", word(pool.hop_rules.none_healthy)},
          {"deal", word(pool.deal)},
          {"seed", pool.seed ? hex64(*pool.seed) : "the site's"},
          {"tos", pool.copy_tos ? "copy" : "zero"},
          {"flow_table", pool.flow_table},
          {"gue_port", pool.gue_port},
          {"udp_checksum", pool.udp_checksum},
          {"too_big", word(pool.too_big)},
          {"on_down", word(pool.on_down)},
          {"timeouts",
           {{"new", milliseconds_text(pool.timeouts.fresh_ms)},
            {"established", milliseconds_text(pool.timeouts.established_ms)},
            {"closing", milliseconds_text(pool.timeouts.closing_ms)},
            {"udp", milliseconds_text(pool.timeouts.udp_ms)}}},
          {"health", check_json(pool.health)}};
}

json unseen_json(const std::optional<UnseenFlows>& unseen) {
  if (!unseen) return nullptr;
  return {{"why", unseen_names[static_cast<std::size_t>(unseen->why)]},
          {"ago_ms", unseen->ago.count()},
          {"known_in_ms", unseen->known_in.count()},
          {"sentence", unseen_sentence(*unseen)}};
}

json pool_json(Context& context, const Pool& pool) {
  const SiteVersion& version = context.version();
  json out = settings_json(pool);
  out["seed"] = hex64(version.site.seed_of(pool));
  out["services"] = json::array();
  for (const Service& service : version.site.services) {
    if (service.pool == pool.name) out["services"].push_back(service.name);
  }
  out["site_digest"] = hex64(site_digest(version, pool, context.recent_rows()));
  return out;
}

json backends_json(Context& context, const Pool& pool) {
  const HealthView& health = context.health();
  const auto shares = shares_of(context, pool);
  json out = json::array();
  for (const Backend& backend : pool.backends) {
    const auto share = shares.find(backend.name);
    json entry{{"pool", pool.name},
               {"name", backend.name},
               {"address", backend.address.text()},
               {"weight", backend.weight},
               {"state", word(backend.state)},
               {"health", word(health_of(health, pool.name, backend.name))},
               {"seats", share == shares.end() ? 0 : share->second.seats},
               {"first_rows", share == shares.end() ? 0 : share->second.first_rows},
               {"rows", pool.rows}};
    const bool counts = context.live() != nullptr && pool.flow_table;
    entry["unseen_flows"] =
        unseen_json(counts ? context.live()->unseen_flows(pool.name, backend.name) : std::nullopt);
    // Counting a backend's flows walks the workers' tables, so only those are counted that somebody waits
    // for.
    if (counts && backend.state == BackendState::draining) {
      const FlowsLeft left = context.live()->flows_left(pool.name, backend.name);
      entry["live_flows"] = left.open;
      entry["closing_flows"] = left.closing;
      entry["unseen_flows"] = unseen_json(left.unseen);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace guideway
