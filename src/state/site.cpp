#include "state/site.h"

#include <algorithm>
#include <map>

namespace guideway {
namespace {

template <class List>
auto find_named(const List& objects, std::string_view name) -> decltype(&*objects.begin()) {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [&](const auto& o) { return o.name == name; });
  return found == objects.end() ? nullptr : &*found;
}

template <class T>
void share(SharedList<T>& objects, const SharedList<T>& before) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < before.size(); ++i) places.emplace(before[i].name, i);
  bool all = objects.size() == before.size();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto found = places.find(objects[i].name);
    const bool same = found != places.end() && objects[i] == before[found->second];
    all = all && same && found->second == i;
    if (same) objects.replace(i, before.share(found->second));
  }
  if (all) objects = before;
}

}  // namespace

Site sharing(Site site, const Site& before) {
  share(site.pools, before.pools);
  share(site.services, before.services);
  return site;
}

const Pool* Site::find_pool(std::string_view name) const { return find_named(pools, name); }
const Service* Site::find_service(std::string_view name) const { return find_named(services, name); }
const Backend* Pool::find_backend(std::string_view wanted) const { return find_named(backends, wanted); }

}  // namespace guideway
