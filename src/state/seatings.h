// Seatings: the seatings of a site's pools, carried from one version of the site to the next.
// What: deals where the set of (name, weight) changed, starts anew where seed or M changed, shares the rest.
#pragma once

#include "guideway/result.h"
#include "state/site_version.h"

namespace guideway {

[[nodiscard]] Result<Seatings> dealt_seatings(const SiteVersion& before, const Site& after);
// Those that were brought along (an export of another director), and for the other pools `dealt`. Refuses one that is
// broken, or not of its pool.
[[nodiscard]] Result<Seatings> with_imported(Seatings dealt, const Seatings& imported, const Site& site);
// A seating that fits its pool: the same members, seed and rows.
[[nodiscard]] bool fits(const Seating& seating, const Site& site, const Pool& pool);

// The seatings of `earlier` on top of `present`, for undo: the seats go back to who held them, and whoever
// serves a row's new flows now stays its former, so that the flows from in between are found.
[[nodiscard]] Seatings restored_seatings(const SiteVersion& present, const SiteVersion& earlier);

}  // namespace guideway
