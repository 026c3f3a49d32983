#include "control/published_digests.h"

#include "guideway/rows.h"
#include "state/plan.h"
#include "state/pool_rows.h"

namespace guideway {

void PublishedDigests::fill(PublishReport& report, const SiteVersion& version, const Snapshot& snapshot) {
  std::map<std::string, Entry> fresh;
  std::map<std::string, std::uint64_t> sites;
  for (const std::shared_ptr<const SnapshotPool>& built : snapshot.pools) {
    const Pool* pool = version.site.find_pool(built->name);
    if (pool == nullptr || !version.seatings.contains(built->name)) continue;
    Entry entry = std::move(entries_[built->name]);
    refresh(entry, version, *pool, built);
    sites[built->name] = entry.site;
    fresh.emplace(built->name, std::move(entry));
  }
  entries_ = std::move(fresh);
  report.pools.clear();
  for (const auto& [name, entry] : entries_) report.pools.push_back({name, entry.site, entry.rows});
  report.site_digest = site_digest(sites);
}

void PublishedDigests::refresh(Entry& entry, const SiteVersion& version, const Pool& pool,
                               const std::shared_ptr<const SnapshotPool>& built) {
  const std::shared_ptr<const Seating>& seating = version.seatings.at(pool.name);
  std::vector<BackendState> states = states_of(*seating, pool);
  const bool same_members = entry.seating == seating;
  if (!same_members || entry.states != states || !(entry.hop_rules == pool.hop_rules)) {
    entry.site = site_digest(version, pool);
  }
  if (!same_members || entry.pool != built) entry.rows = rows_digest(built->rows, seating->members);
  entry.pool = built;
  entry.seating = seating;
  entry.states = std::move(states);
  entry.hop_rules = pool.hop_rules;
}

}  // namespace guideway
