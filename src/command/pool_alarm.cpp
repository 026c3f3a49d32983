#include "command/pool_alarm.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/live.h"
#include "command/text_table.h"

namespace guideway {
namespace {

using nlohmann::json;

std::string nobody_sentence(const Pool& pool, bool any_active) {
  if (pool.backends.empty())
    return fmt::format(
        "pool {}: no backend, so new flows are dropped; `guideway backend add {} NAME ADDRESS`", pool.name,
        pool.name);
  return fmt::format("pool {}: takes no new flows: {}", pool.name,
                     any_active ? "nobody is healthy (none_healthy = drop)"
                                : "no backend is active; undrain, enable or add one");
}

std::string ignored_sentence(const Pool& pool, bool any_healthy) {
  if (any_healthy)
    return fmt::format("pool {}: less than panic = {} of the weight is healthy: all take new flows",
                       pool.name, pool.hop_rules.panic);
  return fmt::format("pool {}: nobody is healthy: all take new flows (none_healthy = all)", pool.name);
}

// Without a wrapping, a router would send the packet back to where its service address is announced.
std::vector<std::string> beyond_l2(const Site& site, const std::vector<NextHopReport>& next_hops) {
  std::vector<std::string> out;
  for (const Pool& pool : site.pools) {
    if (pool.encapsulation != Encapsulation::l2) continue;
    for (const Backend& backend : pool.backends) {
      const auto found = std::ranges::find(next_hops, backend.address.text(), &NextHopReport::address);
      if (found == next_hops.end() || !found->next_hop.behind_router) continue;
      out.push_back(
          fmt::format("pool {}: {} is behind a router, where l2 does not reach; use gue, ipip or gre",
                      pool.name, backend.name));
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> alarm_of(Context& context, const Pool& pool) {
  const SiteVersion& version = context.version();
  const auto& services = version.site.services;
  if (std::none_of(services.begin(), services.end(), [&](const Service& s) { return s.pool == pool.name; }))
    return std::nullopt;
  const auto status = statuses_of(*version.seatings.at(pool.name), pool, context.health());
  const auto any = [&status](auto wanted) { return std::any_of(status.begin(), status.end(), wanted); };
  const bool any_active = any([](const MemberStatus& s) { return s.state == BackendState::active; });
  const bool any_healthy =
      any([](const MemberStatus& s) { return s.state == BackendState::active && s.health != Health::down; });
  bool anybody = false, ignored = false;
  for (const Row& row : *rows_of(version, pool, context.health(), context.recent_rows())) {
    if (row.takes_new == 0) continue;
    anybody = true;
    ignored = ignored || status[row.hop[0]].health == Health::down;
  }
  if (!anybody) return nobody_sentence(pool, any_active);
  if (ignored) return ignored_sentence(pool, any_healthy);
  return std::nullopt;
}

json alarms_json(Context& context) {
  json out = json::array();
  const Site& site = context.version().site;
  for (const Pool& pool : site.pools)
    if (auto alarm = alarm_of(context, pool)) out.push_back(std::move(*alarm));
  const bool any_l2 =
      std::ranges::any_of(site.pools, [](const Pool& p) { return p.encapsulation == Encapsulation::l2; });
  if (Live* live = any_l2 ? context.live() : nullptr)
    for (std::string& alarm : beyond_l2(site, live->next_hops())) out.push_back(std::move(alarm));
  if (Live* live = context.live())
    for (const PortReport& port : live->ports())
      if (port.steered && port.steered->services_left_out != 0)
        out.push_back(fmt::format(
            "port {}: {} not in its XDP program's list, and the kernel gets their packets", port.name,
            port.steered->services_left_out == 1
                ? std::string("1 service is")
                : fmt::format("{} services are", port.steered->services_left_out)));
  return out;
}

std::string alarm_lines(const json& answer, bool color) {
  std::string out;
  for (const json& alarm : answer.at("alarms"))
    out += toned("alarm: ", Tone::bad, color) + alarm.get<std::string>() + "\n";
  return out;
}

}  // namespace guideway
