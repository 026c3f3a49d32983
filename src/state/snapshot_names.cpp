#include "state/snapshot_names.h"

#include <algorithm>

namespace guideway {

std::optional<BackendId> backend_id(const Seating& seating, const SnapshotPool& pool,
                                    std::string_view backend) {
  const auto& members = seating.members;
  const auto member = std::lower_bound(members.begin(), members.end(), backend,
                                       [](const Member& m, std::string_view name) { return m.name < name; });
  if (member == members.end() || member->name != backend) return std::nullopt;
  return pool.backends[static_cast<std::size_t>(member - members.begin())].id;
}

std::optional<BackendId> backend_id(const SiteVersion& version, const Snapshot& snapshot,
                                    std::string_view pool, std::string_view backend) {
  const auto built = std::find_if(snapshot.pools.begin(), snapshot.pools.end(),
                                  [&](const auto& candidate) { return candidate->name == pool; });
  if (built == snapshot.pools.end()) return std::nullopt;
  return backend_id(*version.seatings.at((*built)->name), **built, backend);
}

std::optional<ServiceId> service_id(const Snapshot& snapshot, std::string_view service) {
  const auto found =
      std::find_if(snapshot.services.begin(), snapshot.services.end(),
                   [&](const SnapshotService& candidate) { return candidate.name == service; });
  return found == snapshot.services.end() ? std::nullopt : std::optional(found->id);
}

}  // namespace guideway
