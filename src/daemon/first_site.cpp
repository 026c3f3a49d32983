#include "daemon/first_site.h"

#include "daemon/preflight.h"
#include "state/snapshot_builder.h"

namespace guideway {

Result<void> check_first_site(const Journal& journal, const std::optional<Site>& seed,
                              const DirectorConfig& director) {
  const auto stored = journal.load();
  if (!stored) return tl::unexpected(stored.error());
  if (*stored) return check_local_addresses((*stored)->site);
  if (!seed) return {};
  if (auto good = check_local_addresses(*seed); !good) return good;
  auto trial = Store::open(std::nullopt, seed);
  if (!trial) return tl::unexpected(trial.error());
  NextHops next_hops;
  SnapshotBuilder builder({director.source_ipv4, director.source_ipv6}, next_hops);
  const auto built = builder.build(trial->current(), {}, {});
  if (!built) return tl::unexpected(built.error());
  return {};
}

}  // namespace guideway
