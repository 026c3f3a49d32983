#include "replay/audit.h"

#include <algorithm>

namespace guideway {

void Audit::forwarded(const FlowTuple& tuple, bool syn, std::uint64_t packet,
                      std::span<const BackendId> hops) {
  const auto [at, unseen] = connections_.try_emplace(tuple, Connection{hops[0]});
  Connection& connection = at->second;
  if (unseen) {
    ++report_.flows;
    if (!syn) ++report_.began_before;
    return;
  }
  if (syn) {
    // A SYN sent again to the same backend is the same connection.
    if (connection.home != hops[0]) {
      ++report_.flows;
      connection = {hops[0]};
    }
    return;
  }
  const auto knows = std::ranges::find(hops, connection.home);
  if (knows == hops.end()) {
    broke(tuple, connection, packet, hops.back());
  } else if (knows != hops.begin()) {
    ++report_.packets_passed_on;
  }
}

void Audit::lost(const FlowTuple& tuple, bool syn, std::uint64_t packet) {
  const auto at = connections_.find(tuple);
  // A SYN that nobody takes breaks nothing: there is no connection yet.
  if (at != connections_.end() && !syn) broke(tuple, at->second, packet, no_backend);
}

void Audit::broke(const FlowTuple& tuple, Connection& connection, std::uint64_t packet, BackendId reached) {
  if (connection.broken) return;
  connection.broken = true;
  ++report_.broken;
  if (report_.first_broken.size() < AuditReport::listed_max)
    report_.first_broken.push_back({tuple, packet, connection.home, reached});
}

}  // namespace guideway
