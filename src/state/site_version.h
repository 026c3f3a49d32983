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

struct SiteVersion {
  Epoch epoch{};
  Site site;
  std::map<std::string, std::shared_ptr<const Seating>> seatings;  // by pool name; unchanged ones are shared
};

}  // namespace guideway
