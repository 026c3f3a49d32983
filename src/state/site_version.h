// Site version: a site, its epoch and the seatings of its pools: what the journal keeps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "guideway/placement.h"
#include "snapshot/ids.h"
#include "state/site.h"

namespace guideway {

// By pool name; unchanged ones are shared.
using Seatings = std::map<std::string, std::shared_ptr<const Seating>>;

struct SiteVersion {
  Epoch epoch{};
  Site site;
  Seatings seatings;
};

}  // namespace guideway
