// Published digests: what directors compare, of the snapshot that the workers have.
// What: rows digest and site digest of each pool and of the site, kept until a pool changes.
// Why:  a digest costs a pass over all rows; a scrape or a status must not pay it for pools that stand still.
// Cost: milliseconds for each pool that changed, when asked; nothing when published.
// Thread: with the control lock held.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/metrics.h"
#include "snapshot/snapshot.h"
#include "state/site_version.h"

namespace guideway {

class PublishedDigests {
 public:
  // Fills the report's digests. `snapshot` was built from `version`.
  void fill(PublishReport& report, const SiteVersion& version, const Snapshot& snapshot);

 private:
  struct Entry {
    // What the digests were made of; they hold while these are the same.
    std::shared_ptr<const SnapshotPool> pool;
    std::shared_ptr<const Seating> seating;
    std::vector<BackendState> states;
    HopRules hop_rules;
    std::uint64_t rows = 0, site = 0;
  };
  void refresh(Entry& entry, const SiteVersion& version, const Pool& pool,
               const std::shared_ptr<const SnapshotPool>& built);

  std::map<std::string, Entry> entries_;
};

}  // namespace guideway
