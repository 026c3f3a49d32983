#include "state/change.h"

#include <fmt/format.h>

#include <algorithm>

#include "state/range.h"
#include "state/site_file.h"
#include "state/words.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

using Refusal = std::optional<Error>;

template <class T>
std::vector<std::string> names_of(const std::vector<T>& objects) {
  std::vector<std::string> names;
  names.reserve(objects.size());
  for (const T& object : objects) names.push_back(object.name);
  return names;
}

Error missing(std::string_view kind, std::string_view name, std::string_view in,
              const std::vector<std::string>& known) {
  return {ErrorKind::not_found,
          fmt::format("no {} \"{}\" in {}", kind, name, in),
          {},
          advice_for(name, known, "it")};
}

template <class T>
T* find_in(std::vector<T>& objects, std::string_view name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& o) { return o.name == name; });
  return found == objects.end() ? nullptr : &*found;
}

// The same object again is no change; another one of that name is refused.
template <class T>
Refusal add(std::vector<T>& objects, const T& object, std::string_view kind, std::string_view in) {
  const T* present = find_in(objects, object.name);
  if (present == nullptr) {
    objects.push_back(object);
    return std::nullopt;
  }
  if (*present == object) return std::nullopt;
  return Error{ErrorKind::refused,
               fmt::format("{} has a {} \"{}\" already, and it differs", in, kind, object.name),
               {},
               "take another name, or remove that one first"};
}

template <class T>
Refusal remove(std::vector<T>& objects, const std::string& name, std::string_view kind, std::string_view in) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T& o) { return o.name == name; });
  if (found == objects.end()) return missing(kind, name, in, names_of(objects));
  objects.erase(found);
  return std::nullopt;
}

std::string in_pool(const std::string& name) { return fmt::format("pool \"{}\"", name); }

struct Editor {
  Site& site;

  // Calls `edit` on the pool, or refuses because there is none.
  template <class Edit>
  Refusal with_pool(const std::string& name, Edit edit) {
    if (Pool* pool = find_in(site.pools, name)) return edit(*pool);
    return missing("pool", name, "the site", names_of(site.pools));
  }
  template <class Edit>
  Refusal with_backend(const std::string& pool_name, const std::string& name, Edit edit) {
    return with_pool(pool_name, [&](Pool& pool) -> Refusal {
      if (Backend* backend = find_in(pool.backends, name)) return edit(*backend);
      return missing("backend", name, in_pool(pool_name), names_of(pool.backends));
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
    site = change.site;
    return std::nullopt;
  }
};

}  // namespace

Result<Site> applied(const Site& site, const Change& change) {
  Site edited = site;
  if (auto refusal = std::visit(Editor{edited}, change)) return tl::unexpected(std::move(*refusal));
  if (auto checked = check_site(edited); !checked) return tl::unexpected(std::move(checked.error()));
  return edited;
}

}  // namespace guideway
