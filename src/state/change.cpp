#include "state/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "state/range.h"
#include "state/site_file.h"
#include "state/words.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

using Refusal = std::optional<Error>;

template <class List>
std::vector<std::string> names_of(const List& objects) {
  std::vector<std::string> names;
  names.reserve(objects.size());
  for (const auto& object : objects) names.push_back(object.name);
  return names;
}

Error missing(std::string_view kind, std::string_view name, std::string_view in,
              const std::vector<std::string>& known) {
  return {ErrorKind::not_found,
          fmt::format("no {} \"{}\" in {}", kind, name, in),
          {},
          advice_for(name, known, "it")};
}

// Its index; the size where there is none.
template <class List>
std::size_t place_of(const List& objects, const std::string& name) {
  const auto found =
      std::find_if(objects.begin(), objects.end(), [&](const auto& object) { return object.name == name; });
  return static_cast<std::size_t>(found - objects.begin());
}

// The same object again is no change; another one of that name is refused.
template <class List, class T>
Refusal add(List& objects, const T& object, std::string_view kind, std::string_view in) {
  const std::size_t place = place_of(objects, object.name);
  if (place == objects.size()) {
    objects.push_back(object);
    return std::nullopt;
  }
  if (std::as_const(objects)[place] == object) return std::nullopt;
  return Error{ErrorKind::refused,
               fmt::format("{} has a {} \"{}\" already, and it differs", in, kind, object.name),
               {},
               "take another name, or remove that one first"};
}

void erase(SharedList<Pool>& pools, std::size_t place) { pools.erase(place); }
void erase(SharedList<Service>& services, std::size_t place) { services.erase(place); }
void erase(std::vector<Backend>& backends, std::size_t place) {
  backends.erase(backends.begin() + static_cast<std::ptrdiff_t>(place));
}

template <class List>
Refusal remove(List& objects, const std::string& name, std::string_view kind, std::string_view in) {
  const std::size_t place = place_of(objects, name);
  if (place == objects.size()) return missing(kind, name, in, names_of(objects));
  erase(objects, place);
  return std::nullopt;
}

std::string in_pool(const std::string& name) { return fmt::format("pool \"{}\"", name); }

struct Editor {
  Site& site;

  // Calls `edit` on the pool, or refuses because there is none.
  template <class Edit>
  Refusal with_pool(const std::string& name, Edit edit) {
    const std::size_t place = place_of(site.pools, name);
    if (place == site.pools.size()) return missing("pool", name, "the site", names_of(site.pools));
    return edit(site.pools.edit(place));
  }
  template <class Edit>
  Refusal with_backend(const std::string& pool_name, const std::string& name, Edit edit) {
    return with_pool(pool_name, [&](Pool& pool) -> Refusal {
      const std::size_t place = place_of(pool.backends, name);
      if (place == pool.backends.size())
        return missing("backend", name, in_pool(pool_name), names_of(pool.backends));
      return edit(pool.backends[place]);
    });
  }

  Refusal operator()(const AddBackend& change) {
    return with_pool(change.pool, [&](Pool& pool) -> Refusal {
      return add(pool.backends, change.backend, "backend", in_pool(pool.name));
    });
  }
  Refusal operator()(const RemoveBackend& change) {
    return with_pool(change.pool, [&](Pool& pool) -> Refusal {
      return remove(pool.backends, change.name, "backend", in_pool(pool.name));
    });
  }
  Refusal operator()(const SetBackendState& change) {
    return with_backend(change.pool, change.name, [&](Backend& backend) -> Refusal {
      backend.state = change.state;
      return std::nullopt;
    });
  }
  Refusal operator()(const SetBackendWeight& change) {
    return with_backend(change.pool, change.name, [&](Backend& backend) -> Refusal {
      if (auto error = bad_weight(change.weight)) return error;
      backend.weight = change.weight;
      return std::nullopt;
    });
  }
  Refusal operator()(const AddPool& change) { return add(site.pools, change.pool, "pool", "the site"); }
  Refusal operator()(const RemovePool& change) {
    std::vector<std::string> users;
    for (const Service& service : site.services)
      if (service.pool == change.name) users.push_back(service.name);
    if (!users.empty())
      return Error{ErrorKind::refused,
                   fmt::format("pool \"{}\" serves {}", change.name, some_of(users)),
                   {},
                   "remove those services, or give them another pool, first"};
    return remove(site.pools, change.name, "pool", "the site");
  }
  Refusal operator()(const AddService& change) {
    return add(site.services, change.service, "service", "the site");
  }
  Refusal operator()(const RemoveService& change) {
    return remove(site.services, change.name, "service", "the site");
  }
  Refusal operator()(const ReplaceSite& change) {
    site = sharing(change.site, site);
    return std::nullopt;
  }
};

}  // namespace

Result<Site> applied(const Site& site, const Change& change) {
  Site edited = site;
  if (auto refusal = std::visit(Editor{edited}, change)) return tl::unexpected(std::move(*refusal));
  if (auto checked = check_site(edited, site); !checked) return tl::unexpected(std::move(checked.error()));
  return edited;
}

}  // namespace guideway
