#include "state/site.h"

#include <algorithm>

namespace guideway {
namespace {

template <class T>
const T* find_named(const std::vector<T>& objects, std::string_view name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& o) { return o.name == name; });
  return found == objects.end() ? nullptr : &*found;
}

}  // namespace

const Pool* Site::find_pool(std::string_view name) const { return find_named(pools, name); }
const Service* Site::find_service(std::string_view name) const { return find_named(services, name); }
const Backend* Pool::find_backend(std::string_view wanted) const { return find_named(backends, wanted); }

}  // namespace guideway
