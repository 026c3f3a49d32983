// Director configuration: director.toml, the settings of one host (design section 7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/address.h"
#include "guideway/result.h"
#include "snapshot/next_hops.h"
#include "state/prefix.h"

namespace guideway {

enum class Polling : std::uint8_t { busy, adaptive };

struct PortConfig {
  std::string name;
  std::string
      device;  // "0000:3b:00.0" | "af_packet:eth1" | "af_xdp:eth1" | "tap:gw0" | "pcap:in,out" | "pcap_loop:in" |
               // "null" | "ring:NAME"
  std::string
      kernel_interface;  // PCI (or twin = true): name of the TAP twin; af_*: the interface itself when empty
  bool twin = false;     // make a TAP twin also for a device that shares its NIC with the kernel (lab)
  std::uint16_t mtu = 1500;
  std::uint16_t vlan = 0;    // egress tag, 0: none
  std::uint16_t queues = 0;  // 0: as many as workers
  std::uint16_t rx_descriptors = 1024, tx_descriptors = 1024;
  bool promiscuous = false;
  bool answer_arp = false;
  std::optional<MacAddress> next_hop_mac;  // static: every backend behind this port has this MAC
};

struct DirectorConfig {
  std::optional<IpAddress> source_ipv4, source_ipv6;
  std::optional<Prefix>
      outer_source_prefix;           // IPv4; sources of IPIP and GRE packets, so that flows differ outside
  std::vector<unsigned> workers{1};  // lcores
  Polling polling = Polling::adaptive;
  std::string admin_socket = "/run/guideway/api.sock";
  std::string state_dir = "/var/lib/guideway";
  std::string metrics = "127.0.0.1:9464";  // empty: off
  bool capture = false;
  bool hugepages = true;                        // false: --no-huge; start also falls back when none are free
  std::uint32_t memory_mb = 256;                // with hugepages = false
  std::uint32_t flow_table_entries = 1U << 20;  // per worker
  std::vector<PortConfig> ports;
};

[[nodiscard]] Result<DirectorConfig> parse_director(std::string_view toml, std::string_view name);
[[nodiscard]] Result<DirectorConfig> read_director(const std::string& path);

}  // namespace guideway
