// Flow class: how a packet changes what is known of its flow, and how long that is kept (design section 5).
#pragma once

#include <cstdint>

#include "dataplane/flow_table.h"
#include "net/packet.h"
#include "snapshot/snapshot.h"

namespace guideway {

// Of a packet of TCP or UDP.
[[nodiscard]] constexpr FlowKind flow_kind(const Packet& packet) {
  static_assert(static_cast<int>(PacketKind::tcp) == static_cast<int>(FlowKind::tcp) &&
                static_cast<int>(PacketKind::udp) == static_cast<int>(FlowKind::udp));
  return static_cast<FlowKind>(packet.kind);
}

// Neither opens nor ends its flow, as far as UDP says such things at all.
[[nodiscard]] constexpr bool goes_on(const Packet& packet) {
  return (packet.tcp_flags & (tcp_syn | tcp_fin | tcp_rst)) == 0;
}

// After a packet of a flow in class `before`, which is neither the SYN that opens it nor a later fragment.
[[nodiscard]] constexpr FlowClass flow_class_after(FlowClass before, const Packet& packet) {
  if (packet.kind != PacketKind::tcp) return FlowClass::udp;
  // A SYN+ACK shows no more than the SYN before it: whoever sends one may make nothing established.
  if ((packet.tcp_flags & tcp_syn) != 0) return before;
  if (before == FlowClass::closing || (packet.tcp_flags & tcp_fin) != 0) return FlowClass::closing;
  if ((packet.tcp_flags & tcp_rst) != 0) return FlowClass::reset;
  // After a reset too: a forged RST does not end a flow that goes on.
  return FlowClass::established;
}

[[nodiscard]] constexpr std::uint32_t timeout_of(FlowClass flow_class, const FlowTimeouts& timeouts) {
  if (flow_class == FlowClass::established) [[likely]]
    return timeouts.established_ms;
  switch (flow_class) {
    case FlowClass::fresh:
      return timeouts.fresh_ms;
    case FlowClass::closing:
    case FlowClass::reset:
      return timeouts.closing_ms;
    case FlowClass::udp_fresh:
    case FlowClass::udp:
      return timeouts.udp_ms;
    case FlowClass::established:
    case FlowClass::none:
      break;
  }
  return 0;
}

}  // namespace guideway
