#include "state/site_delta.h"

#include <algorithm>

namespace guideway {
namespace {

constexpr std::size_t objects_max = 64;  // of one delta; each is looked for among all of the site

template <class T>
std::size_t place_of(const SharedList<T>& objects, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& o) { return o.name == name; });
  return static_cast<std::size_t>(found - objects.begin());
}

template <class T>
bool compare(const SharedList<T>& before, const SharedList<T>& after, SharedList<T>& changed,
             std::vector<std::string>& gone) {
  if (before.shares(after)) return true;
  const SharedWith<T> had(before), has(after);
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (had.contains(after[i])) continue;
    if (changed.size() == objects_max) return false;
    changed.push_back(after.share(i));
  }
  for (const T& object : before) {
    if (has.contains(object) || place_of(changed, object.name) != changed.size()) continue;
    if (gone.size() == objects_max) return false;
    gone.push_back(object.name);
  }
  return true;
}

template <class T>
void carry_over(SharedList<T>& objects, const SharedList<T>& changed, const std::vector<std::string>& gone) {
  for (const std::string& name : gone)
    if (const std::size_t place = place_of(objects, name); place != objects.size()) objects.erase(place);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const std::size_t place = place_of(objects, changed[i].name);
    if (place == objects.size())
      objects.push_back(changed.share(i));
    else
      objects.replace(place, changed.share(i));
  }
}

}  // namespace

std::optional<SiteDelta> delta_of(const Site& before, const Site& after) {
  SiteDelta out;
  out.changed.hash_seed = after.hash_seed;
  if (!compare(before.pools, after.pools, out.changed.pools, out.pools_gone) ||
      !compare(before.services, after.services, out.changed.services, out.services_gone))
    return std::nullopt;
  // Another order is not said by names.
  if (!(with(before, out) == after)) return std::nullopt;
  return out;
}

Site with(Site before, const SiteDelta& delta) {
  before.hash_seed = delta.changed.hash_seed;
  carry_over(before.pools, delta.changed.pools, delta.pools_gone);
  carry_over(before.services, delta.changed.services, delta.services_gone);
  return before;
}

}  // namespace guideway
