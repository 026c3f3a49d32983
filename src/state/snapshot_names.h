// Snapshot names: the ids that a snapshot gave to the site's names, for whoever reads the workers' counters.
// Thread: any.
#pragma once

#include <optional>
#include <string_view>

#include "snapshot/snapshot.h"
#include "state/site_version.h"

namespace guideway {

// `pool` was built on `seating`.
[[nodiscard]] std::optional<BackendId> backend_id(const Seating& seating, const SnapshotPool& pool,
                                                  std::string_view backend);
// `snapshot` was built from `version`.
[[nodiscard]] std::optional<BackendId> backend_id(const SiteVersion& version, const Snapshot& snapshot,
                                                  std::string_view pool, std::string_view backend);
[[nodiscard]] std::optional<ServiceId> service_id(const Snapshot& snapshot, std::string_view service);

}  // namespace guideway
