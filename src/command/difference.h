// Difference: what one site has that another has not, in sentences.
// What: services, pools and backends that were added, removed or changed, for the answers of changes.
// Not:  rows; the plan counts those.
#pragma once

#include <string>
#include <vector>

#include "state/site.h"

namespace guideway {

// Empty for equal sites. At most a hundred sentences; the last then tells how many more there are.
[[nodiscard]] std::vector<std::string> difference(const Site& before, const Site& after);

}  // namespace guideway
