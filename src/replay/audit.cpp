#include "replay/audit.h"

#include <algorithm>

namespace guideway {

Fate fate_of(Verdict verdict) {
  switch (verdict) {  // without default: a new verdict has to be judged
    case Verdict::forward:
      return Fate::reaches_a_backend;
    case Verdict::kernel:  // its service, or the service's port, is no more
    case Verdict::drop_unmatched:
    case Verdict::drop_no_backend_syn:
    case Verdict::drop_no_backend_udp:
    case Verdict::drop_no_backend:
      return Fate::reaches_no_backend;
    case Verdict::answer:  // too big, and its sender is told
    case Verdict::drop_too_big:
    case Verdict::held:
    case Verdict::drop_truncated:
    case Verdict::drop_other_mac:
    case Verdict::drop_bad_ip_version:
    case Verdict::drop_bad_ip_header:
    case Verdict::drop_bad_ip_length:
    case Verdict::drop_bad_ip_checksum:
    case Verdict::drop_ttl_zero:
    case Verdict::drop_bad_extension:
    case Verdict::drop_bad_l4:
    case Verdict::drop_tiny_fragment:
    case Verdict::drop_fragment:
    case Verdict::drop_fragment_overlap:
    case Verdict::drop_loop:
    case Verdict::drop_icmp_unknown_flow:
    case Verdict::drop_icmp_malformed:
    case Verdict::drop_next_hop_unresolved:
    case Verdict::drop_port_down:
    case Verdict::drop_no_buffer:
    case Verdict::drop_tx_full:
    case Verdict::drop_kernel_full:
    case Verdict::count_:
      break;
  }
  return Fate::lost_on_the_way;
}

void Audit::forwarded(const FlowTuple& tuple, bool syn, std::uint64_t packet,
                      std::span<const BackendId> hops) {
  const auto [at, unseen] = connections_.try_emplace(tuple, Connection{hops[0]});
  Connection& connection = at->second;
  if (unseen) {
    ++report_.flows;
    if (!syn) ++report_.began_before;
  } else if (syn && connection.home != hops[0]) {
    // A SYN sent again to the same backend is the same connection.
    ++report_.flows;
    connection = {hops[0]};
  }
  const auto taker =
      std::ranges::find_if(hops, [&](BackendId hop) { return hop == connection.home || is_down(hop); });
  const bool swallowed = taker != hops.end() && is_down(*taker);
  if (swallowed) ++report_.packets_swallowed;
  if (swallowed || taker == hops.end()) {
    missed(tuple, connection, packet, taker == hops.end() ? hops.back() : *taker);
  } else if (taker != hops.begin()) {
    ++report_.packets_passed_on;
  }
}

void Audit::lost(const FlowTuple& tuple, bool syn, std::uint64_t packet) {
  const auto at = connections_.find(tuple);
  // A SYN that nobody takes breaks nothing: there is no connection yet.
  if (at != connections_.end() && !syn) missed(tuple, at->second, packet, no_backend);
}

void Audit::missed(const FlowTuple& tuple, Connection& connection, std::uint64_t packet, BackendId reached) {
  if (connection.over) return;
  connection.over = true;
  if (is_down(connection.home)) {
    ++report_.lost_with_backend;
    return;
  }
  ++report_.broken;
  if (report_.first_broken.size() < AuditReport::listed_max)
    report_.first_broken.push_back({tuple, packet, connection.home, reached});
}

}  // namespace guideway
