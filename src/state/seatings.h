// Seatings: the seatings of a site's pools, carried from one version of the site to the next.
// What: deals where the set of (name, weight) changed, starts anew where seed or M changed, shares the rest.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "guideway/result.h"
#include "state/site_version.h"

namespace guideway {

using Seatings = std::map<std::string, std::shared_ptr<const Seating>>;

[[nodiscard]] Result<Seatings> dealt_seatings(const SiteVersion& before, const Site& after);

// The seatings of `earlier` on top of `present`, for undo: the seats go back to who held them, and whoever
// serves a row's new flows now stays its former, so that the flows from in between are found.
[[nodiscard]] Seatings restored_seatings(const SiteVersion& present, const SiteVersion& earlier);

}  // namespace guideway
