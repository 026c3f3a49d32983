// Site delta: what makes one site into another, as far as a few objects do.
// What: the pools and services that are new or not as they were, and the names of those that are gone.
// Why:  a drain in a site of ten thousand backends is one pool to the journal, and not ten thousand backends.
// Not:  another order, and changes of many pools: those have no delta, and a whole version says them better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "state/site.h"

namespace guideway {

struct SiteDelta {
  Site changed;  // with the hash_seed as it is then
  std::vector<std::string> pools_gone, services_gone;
};

[[nodiscard]] std::optional<SiteDelta> delta_of(const Site& before, const Site& after);
// Objects of the same name are replaced where they stand, the others come last.
[[nodiscard]] Site with(Site before, const SiteDelta& delta);

}  // namespace guideway
