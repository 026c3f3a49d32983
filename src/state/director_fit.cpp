#include "state/director_fit.h"

#include <fmt/format.h>

#include "state/snapshot_builder.h"
#include "state/store.h"

namespace guideway {

Result<void> check_own_source(const Site& site, const DirectorConfig& director, const Site& good) {
  if (director.ports.empty())
    return {};  // stands for one whose file was not named, with sources of the documentation
  const SharedWith<Pool> checked(good.pools);
  for (const Pool& pool : site.pools) {
    if (checked.contains(pool)) continue;
    for (const Backend& backend : pool.backends)
      if (backend.address == director.source_ipv4 || backend.address == director.source_ipv6)
        return fail(ErrorKind::refused,
                    fmt::format("address {} is the director's own source", backend.address.text()),
                    fmt::format("pool \"{}\", backend \"{}\"", pool.name, backend.name),
                    "give the backend's own address, or mend the source in director.toml");
  }
  return {};
}

Result<void> check_fit(const SiteVersion& version, const DirectorConfig& director) {
  if (auto good = check_own_source(version.site, director); !good) return good;
  NextHops next_hops;
  SnapshotBuilder builder({director.source_ipv4, director.source_ipv6}, next_hops);
  const auto built = builder.build(version, {}, {});
  if (!built) return tl::unexpected(built.error());
  return {};
}

Result<void> check_fit(const Site& site, const DirectorConfig& director) {
  const auto trial = Store::open(std::nullopt, site);
  if (!trial) return tl::unexpected(trial.error());
  return check_fit(trial->current(), director);
}

}  // namespace guideway
