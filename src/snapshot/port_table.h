// Port table: what the data plane must know of each port to write a frame for it.
// Ownership: filled by io before the workers start; mtu and link are atomics that io changes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "snapshot/next_hops.h"

namespace guideway {

inline constexpr std::size_t ports_max = 32;

struct PortView {
  MacAddress mac{};
  std::uint16_t vlan = 0;  // egress tag; 0: none
  bool answer_arp = false;
  bool accept_any_mac = false;           // replay: destination MACs are not checked
  bool rx_ip_checksum = false;           // the NIC's IPv4 header checksum flag may be trusted
  std::atomic<std::uint16_t> mtu{1500};  // of the IP packet
  std::atomic<bool> link_up{true};
};

struct PortTable {
  std::size_t size = 0;
  std::array<PortView, ports_max> ports;
};

}  // namespace guideway
