// Flow class: how a packet changes what is known of its flow, and how long that is kept (design section 5).
#pragma once

#include <cstdint>

#include "dataplane/flow_table.h"
#include "net/packet.h"
#include "snapshot/snapshot.h"

namespace guideway {

// After a packet that is no SYN of a flow in class `before`.
[[nodiscard]] constexpr FlowClass flow_class_after(FlowClass before, const Packet& packet) {
  if (packet.kind != PacketKind::tcp) return FlowClass::udp;
  if (before == FlowClass::closing || (packet.tcp_flags & tcp_fin) != 0) return FlowClass::closing;
  if ((packet.tcp_flags & tcp_rst) != 0) return FlowClass::reset;
  // After a reset too: a forged RST does not end a flow that goes on.
  return FlowClass::established;
}

[[nodiscard]] constexpr std::uint32_t timeout_of(FlowClass flow_class, const FlowTimeouts& timeouts) {
  switch (flow_class) {
    case FlowClass::fresh:
      return timeouts.fresh_ms;
    case FlowClass::established:
      return timeouts.established_ms;
    case FlowClass::closing:
    case FlowClass::reset:
      return timeouts.closing_ms;
    case FlowClass::udp_fresh:
    case FlowClass::udp:
      return timeouts.udp_ms;
    case FlowClass::none:
      break;
  }
  return 0;
}

}  // namespace guideway
