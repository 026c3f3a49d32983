// Interface: what the kernel knows of a network interface, and sets of it, for the ports that share one with it.
// Thread: control. By name, in this process's network namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace guideway {

// 0, or the negative errno.
[[nodiscard]] int set_interface_mtu(const std::string& interface, int mtu);
// nullopt: there is no such interface.
[[nodiscard]] std::optional<int> interface_mtu(const std::string& interface);

// Whether the host made it so; a capture that looks in does not count. nullopt: there is no such interface.
[[nodiscard]] std::optional<bool> is_promiscuous(const std::string& interface);
// 0, or the negative errno.
[[nodiscard]] int set_promiscuous(const std::string& interface, bool promiscuous);

// Whether its frames are Ethernet's: not so loopback and IP tunnels.
[[nodiscard]] bool is_ethernet(const std::string& interface);

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
