// Running: our program as it is found on an interface.
// What: the XDP program, how it is attached, and its maps, asked from the kernel by way of the interface.
// Why:  the interface itself is the only place where state is kept: traffic goes on when the agent has ended,
// a
//       vanished interface or namespace leaves nothing behind, and equal names in other namespaces cannot
//       collide. Pins in a BPF file system have none of that: `ip netns exec` mounts a fresh /sys, mounts
//       made inside it go with the process, and pins outlive their interfaces.
// Cost: an operator's `ip link set IFACE xdp off` takes the program off, where a pinned link would refuse.
#pragma once

#include <optional>
#include <string>

#include "agent/interface.h"
#include "agent/maps.h"

namespace guideway::agent {

inline constexpr const char* receive_name = "receive";
inline constexpr const char* send_on_name = "send_on";

struct Running {
  Fd program;
  std::uint32_t mode_flags = 0;  // XDP_FLAGS_*_MODE
  std::string mode;              // "native" | "generic" | "offloaded"
  Maps maps;
  gw_record record{};
};

// nullopt if the interface has no XDP program, or one that is not ours.
[[nodiscard]] Result<std::optional<Running>> find_running(const Interface& interface);

}  // namespace guideway::agent
