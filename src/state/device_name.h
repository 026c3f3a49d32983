// Device name: the device string of a port, taken apart.
// What: "0000:3b:00.0" | "af_packet:eth1" | "af_xdp:eth1" | "tap:gw0" | "pcap:in.pcap,out.pcap" |
//       "pcap_loop:in.pcap" | "null" | "ring:NAME".
// Not:  whether the device exists; io/ finds that out.
#pragma once

#include <string>
#include <string_view>

#include "guideway/result.h"

namespace guideway {

struct Device {
  enum class Kind { pci, af_packet, af_xdp, tap, pcap, pcap_loop, null_, ring };
  Kind kind = Kind::null_;
  std::string argument;  // PCI address, interface, ring's name, or the file read from
  std::string output;    // pcap: the file written to; empty: none

  [[nodiscard]] bool reads_capture() const { return kind == Kind::pcap || kind == Kind::pcap_loop; }

  // What two ports must not have in common: the interface itself for af_packet and af_xdp.
  [[nodiscard]] std::string identity() const;
  friend bool operator==(const Device&, const Device&) = default;
};

[[nodiscard]] Result<Device> parse_device(std::string_view text);

}  // namespace guideway
