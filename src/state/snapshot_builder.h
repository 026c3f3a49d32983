// Snapshot builder: a site version and a health view into the snapshot that the workers read.
// What: shares pools that did not change with the snapshot before; hands out ids (backend_ids.h).
// Cost: what the site shares with the one before is told by its address and not looked at.
// Thread: control.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "guideway/result.h"
#include "snapshot/next_hops.h"
#include "snapshot/snapshot.h"
#include "state/plan.h"
#include "state/prefix.h"
#include "state/site_version.h"

namespace guideway {

struct OuterSources {
  std::optional<IpAddress> ipv4, ipv6;  // a pool whose backends' family has no source is refused
  std::optional<Prefix>
      spread;  // IPv4, without host bits: where IPIP and GRE take their sources from instead
};

// Rows whose new flows went to a backend that is none of their hops in `after`, which differs in states and health only.
[[nodiscard]] std::uint32_t rows_forgotten(const SnapshotPool& before, const SnapshotPool& after);

class SnapshotBuilder {
 public:
  // `recent`: the store's recent_rows(), where there is a store.
  SnapshotBuilder(OuterSources sources, NextHops& next_hops,
                  std::shared_ptr<RecentRows> recent = std::make_shared<RecentRows>());
  ~SnapshotBuilder();

  // `health` absent: nobody knows anything. `now` only ages the quarantine of backend ids. A refusal (no outer source, no id or next hop left) changes
  // nothing, so that a change can be built before it is made durable; one that then is not made is taken back.
  [[nodiscard]] Result<std::shared_ptr<const Snapshot>> build(const SiteVersion& version,
                                                              const SharedHealthView& health,
                                                              std::chrono::milliseconds now);
  // The newest snapshot will not be published: every id is again what it was before it was built. Once a build.
  void take_back();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
