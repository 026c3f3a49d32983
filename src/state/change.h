// Change: an edit of the site, as data; what every command that changes something comes down to.
// What: one variant; applying it to a site is pure and either answers with the new site or refuses with a
// sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "guideway/result.h"
#include "state/site_version.h"

namespace guideway {

struct AddBackend {
  std::string pool;
  Backend backend;
};
struct RemoveBackend {
  std::string pool, name;
};
struct SetBackendState {
  std::string pool, name;
  BackendState state;
};  // drain, undrain, disable, enable
struct SetBackendWeight {
  std::string pool, name;
  std::uint32_t weight;
};
struct AddPool {
  Pool pool;
};
struct RemovePool {
  std::string name;
};  // refused while a service uses it
struct AddService {
  Service service;
};
struct RemoveService {
  std::string name;
};
// apply; several changes are one deal.
struct ReplaceSite {
  Site site;
  Seatings seatings = {};  // brought along from another director; the other pools' are dealt
};

using Change = std::variant<AddBackend, RemoveBackend, SetBackendState, SetBackendWeight, AddPool, RemovePool,
                            AddService, RemoveService, ReplaceSite>;

// The site after the change, good as a whole if `site` was. An identical change gives an equal site (a no-op). What the
// change leaves alone is shared with `site`.
[[nodiscard]] Result<Site> applied(const Site& site, const Change& change);

}  // namespace guideway
