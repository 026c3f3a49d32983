#include "state/pool_rows.h"

#include <map>
#include <unordered_map>

#include "tables/xxh3.h"

namespace guideway {

std::vector<const Backend*> backends_by_member(const Seating& seating, const Pool& pool) {
  std::unordered_map<std::string_view, const Backend*> by_name;
  by_name.reserve(pool.backends.size());
  for (const Backend& backend : pool.backends) by_name.emplace(backend.name, &backend);
  std::vector<const Backend*> out;
  out.reserve(seating.members.size());
  for (const Member& member : seating.members) {
    const auto found = by_name.find(member.name);
    out.push_back(found == by_name.end() ? nullptr : found->second);
  }
  return out;
}

bool keeps_tcp(const MemberStatus& status, OnDown on_down) {
  return status.state != BackendState::disabled && (status.health != Health::down || on_down == OnDown::keep);
}

// One that takes new flows although it is down, as health is ignored, keeps those that it has.
bool keeps_udp(const MemberStatus& status, bool takes_new) {
  return takes_new || (status.state != BackendState::disabled && status.health != Health::down);
}

std::vector<BackendState> states_of(const Seating& seating, const Pool& pool) {
  std::vector<BackendState> out;
  out.reserve(seating.members.size());
  for (const Backend* backend : backends_by_member(seating, pool))
    out.push_back(backend == nullptr ? BackendState::disabled : backend->state);
  return out;
}

std::vector<MemberStatus> statuses_of(const Seating& seating, const Pool& pool, const HealthView& health) {
  const auto view = health.find(pool.name);
  std::vector<MemberStatus> out;
  out.reserve(seating.members.size());
  for (const Backend* backend : backends_by_member(seating, pool)) {
    MemberStatus status{BackendState::disabled, pool.health.initial};
    if (backend != nullptr) {
      status.state = backend->state;
      if (view != health.end())
        if (const auto seen = view->second.find(backend->name);
            seen != view->second.end() && seen->second != Health::unknown)
          status.health = seen->second;
    }
    out.push_back(status);
  }
  return out;
}

RowTable::Shared rows_of(const SiteVersion& version, const Pool& pool, const HealthView& health,
                         RecentRows& recent) {
  const auto& seating = version.seatings.at(pool.name);
  const RecentRows::Shared rows = recent.get(seating, statuses_of(*seating, pool, health), pool.rules());
  return {rows, &rows->rows()};
}

std::uint64_t rows_digest(const SiteVersion& version, const Pool& pool, const HealthView& health,
                          RecentRows& recent) {
  const auto& seating = version.seatings.at(pool.name);
  return recent.digest(seating, statuses_of(*seating, pool, health), pool.rules());
}

std::uint64_t site_digest(const SiteVersion& version, const Pool& pool, RecentRows& recent) {
  const auto& seating = version.seatings.at(pool.name);
  std::vector<MemberStatus> all_up;
  for (const BackendState state : states_of(*seating, pool)) all_up.push_back({state, Health::up});
  return recent.digest(seating, all_up, pool.rules());
}

std::uint64_t site_digest(const SiteVersion& version, RecentRows& recent) {
  std::map<std::string_view, std::uint64_t> pools;
  for (const Pool& pool : version.site.pools) pools.emplace(pool.name, site_digest(version, pool, recent));
  std::string pairs;
  const auto put = [&pairs](std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) pairs += static_cast<char>(value >> shift);
  };
  for (const auto& [name, digest] : pools) {
    put(xxh3(name, 0));
    put(digest);
  }
  return xxh3(pairs, 0);
}

}  // namespace guideway
