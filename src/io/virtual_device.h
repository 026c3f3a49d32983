// Virtual device: the EAL's arguments for a port's device.
// What: one or several vdevs (name and arguments) for everything but PCI devices, which the EAL probes, and rings,
//       which attachment.h makes; and the TAP device of a twin.
// Why:  the drivers' names and arguments, and their traps, are known here alone.
// Thread: any; pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "state/device_name.h"

namespace guideway {

struct VirtualDevice {
  std::string name;       // "net_af_packet0"
  std::string arguments;  // "iface=eth1,framecnt=4096"
  friend bool operator==(const VirtualDevice&, const VirtualDevice&) = default;
};

struct DeviceRequest {
  std::size_t port = 0;  // the port's index; makes the names unique
  std::uint16_t queues = 1;
  std::uint16_t mtu = 1500;
  std::string
      steering_object;  // af_xdp: path of the XDP object; empty: the driver's own, which takes every frame
};

// In the order of their queues; empty for PCI devices and rings.
[[nodiscard]] std::vector<VirtualDevice> virtual_devices(const Device& device, const DeviceRequest& request);

// The TAP device that stands for a port in the kernel, with the port's MAC.
[[nodiscard]] VirtualDevice twin_device(std::size_t port, std::string_view interface, std::string_view mac);

// The kernel has the same interface and sees the same packets.
[[nodiscard]] inline bool shares_interface(const Device& device) {
  return device.kind == Device::Kind::af_packet || device.kind == Device::Kind::af_xdp;
}

}  // namespace guideway
