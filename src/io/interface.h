// Interface: what the kernel knows of a network interface, and sets of it, for the ports that share one with it.
// Thread: control. By name, in this process's network namespace.
#pragma once

#include <cstdint>
#include <string>

namespace guideway {

// 0, or the negative errno.
[[nodiscard]] int set_interface_mtu(const std::string& interface, std::uint16_t mtu);

// The name of its driver ("veth"); empty where it does not tell.
[[nodiscard]] std::string driver_of(const std::string& interface);

// Its queues, as `ethtool --show-channels` has them. An interface that does not tell has one.
struct Channels {
  unsigned receive = 1;  // queues that packets come in at
  unsigned combined =
      0;  // of those, with a transmit queue of the same interrupt; DPDK binds to these, or to one
};
[[nodiscard]] Channels read_channels(const std::string& interface);

}  // namespace guideway
