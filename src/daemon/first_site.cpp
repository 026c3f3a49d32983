#include "daemon/first_site.h"

#include "daemon/preflight.h"
#include "state/director_fit.h"

namespace guideway {

Result<void> check_first_site(const Journal& journal, const std::optional<Site>& seed,
                              const DirectorConfig& director) {
  const auto stored = journal.load();
  if (!stored) return tl::unexpected(stored.error());
  if (*stored) return check_local_addresses((*stored)->site);
  if (!seed) return {};
  if (auto good = check_local_addresses(*seed); !good) return good;
  return check_fit(*seed, director);
}

}  // namespace guideway
