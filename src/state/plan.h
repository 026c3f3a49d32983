// Plan: what a change would move, before it is done.
// What: the next version (with its deal), and per backend the rows that it wins and loses.
// Why:  `plan`, `--force` and the answers of commands all print from it, so what was planned is what happens.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "state/change.h"
#include "state/recent_rows.h"
#include "state/site_version.h"

namespace guideway {

// Health by pool and backend name; what is not named is unknown (counts as health.initial).
using HealthView = std::map<std::string, std::map<std::string, Health>>;

[[nodiscard]] std::vector<MemberStatus> statuses_of(const Seating& seating, const Pool& pool,
                                                    const HealthView& health);
// The rows of one pool as a site version and a health view make them; `recent` only saves time.
[[nodiscard]] RecentRows::Shared rows_of(const SiteVersion& version, const Pool& pool,
                                         const HealthView& health, RecentRows& recent);
// Rows digest as things are, and site digest (every backend up), of one pool and of the whole site (over the
// pools in name order as pairs of XXH3(name, 0) and digest). `recent` only saves time.
[[nodiscard]] std::uint64_t rows_digest(const SiteVersion& version, const Pool& pool,
                                        const HealthView& health, RecentRows& recent);
[[nodiscard]] std::uint64_t site_digest(const SiteVersion& version, const Pool& pool, RecentRows& recent);
[[nodiscard]] std::uint64_t site_digest(const SiteVersion& version, RecentRows& recent);

struct BackendMoves {
  std::string pool, backend;
  std::uint32_t seats_before = 0, seats_after = 0;  // rows held
  std::uint32_t first_before = 0, first_after = 0;  // rows whose new flows it takes
  std::uint32_t first_gained = 0, first_lost = 0;
};

struct PoolMoves {
  std::string pool;
  std::uint32_t rows = 0;
  std::uint32_t seats_moved = 0;  // seats with another holder
  std::uint32_t first_moved = 0;  // rows whose new flows go elsewhere
  std::uint32_t rows_breaking =
      0;  // rows with a present hop that may have live flows and would be in no new hop
  std::vector<std::string> breaking;  // those backends
  // Without a flow table: rows whose former is no hop any more, so that what began before the last deal may break.
  std::uint32_t rows_forgotten = 0;
  std::vector<BackendMoves> backends;  // every backend of before and after, name order
};

struct Plan {
  SiteVersion before;
  SiteVersion after;  // the epoch it would get; equal to before when nothing changes
  bool no_op = false;
  std::vector<PoolMoves> pools;  // pools that change
  // Services that go to another pool, address or protocol: all their connections are decided anew.
  std::vector<std::string> services_cut;
  std::vector<std::string> warnings;
  [[nodiscard]] bool needs_force() const;
};

// Pure: check -> deal -> compare rows. Refuses what `applied` refuses. `recent` only saves time.
[[nodiscard]] Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change,
                                RecentRows& recent);
[[nodiscard]] Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change);
// What going from one version to another moves; `after` has its seatings already.
[[nodiscard]] Plan compared(const SiteVersion& before, SiteVersion after, const HealthView& health,
                            RecentRows& recent);

}  // namespace guideway
