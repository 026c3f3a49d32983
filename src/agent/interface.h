// Interface: a network device of the namespace the agent runs in.
// What: its name, index and addresses, and what the kernel does with packets on it as far as that is set by
// sysctl.
#pragma once

#include <string>
#include <vector>

#include "guideway/address.h"
#include "guideway/result.h"

namespace guideway::agent {

struct Interface {
  std::string name;
  unsigned index = 0;
};

[[nodiscard]] Result<Interface> find_interface(const std::string& name);
[[nodiscard]] std::vector<Interface> all_interfaces();

// Without link-local ones; sorted.
[[nodiscard]] std::vector<IpAddress> interface_addresses(const Interface& interface);
// Of all interfaces of the host, lo included; likewise.
[[nodiscard]] std::vector<IpAddress> host_addresses();

// net.ipv4.conf.<interface>.<key>, with "all" as the floor; -1 where it cannot be read.
[[nodiscard]] int ipv4_setting(const Interface& interface, const std::string& key);

// Whether the host takes packets to this address as its own: an address of any interface, or a local route.
[[nodiscard]] bool is_host_address(const IpAddress& address);

}  // namespace guideway::agent
