// Director fit: whether one director can serve a site.
// What: the outer sources that the site's pools need, and no backend at the director's own address.
// Why:  `guideway check`, `guidewayd --check` and the start ask the same, so that what passes one passes all.
// Not:  addresses of the host itself, which only the host knows (the daemon's preflight).
#pragma once

#include "guideway/result.h"
#include "state/director_config.h"
#include "state/site_version.h"

namespace guideway {

// Cheap: asked before every change, of the pools that the site does not share with `good`. A backend at the director's
// source would get its own packets.
[[nodiscard]] Result<void> check_own_source(const Site& site, const DirectorConfig& director,
                                            const Site& good = {});
// Builds the snapshot that the director would publish.
[[nodiscard]] Result<void> check_fit(const SiteVersion& version, const DirectorConfig& director);
[[nodiscard]] Result<void> check_fit(const Site& site, const DirectorConfig& director);

}  // namespace guideway
