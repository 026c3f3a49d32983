#include "io/virtual_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/frame_room.h"

namespace guideway {
namespace {

// The packet ring of af_packet. The driver's own 512 frames drop by the thousand. When the ring is full, the driver
// waits for the interface without a limit; past the queueing discipline (its default, said here since we count on it),
// which may hold frames for as long as it likes, an interface takes a frame or drops it.
std::string af_packet_arguments(const Device& device, const DeviceRequest& request) {
  constexpr std::size_t page = 4096;
  const std::size_t slot = frame_room(request.mtu);
  std::string out = fmt::format("iface={},framecnt=4096,qdisc_bypass=1", device.argument);
  if (slot > 2048) out += fmt::format(",blocksz={},framesz={}", std::max(slot, page), slot);
  if (request.queues > 1) out += fmt::format(",qpairs={}", request.queues);
  return out;
}

std::string af_xdp_arguments(const Device& device, const DeviceRequest& request) {
  std::string out = fmt::format("iface={},start_queue=0,queue_count={}", device.argument, request.queues);
  if (!request.steering_object.empty()) out += ",xdp_prog=" + request.steering_object;
  return out;
}

std::string pcap_arguments(const Device& device) {
  std::string out = "rx_pcap=" + device.argument;
  if (device.kind == Device::Kind::pcap_loop) out += ",infinite_rx=1";
  if (!device.output.empty()) out += ",tx_pcap=" + device.output;
  return out;
}

}  // namespace

std::vector<VirtualDevice> virtual_devices(const Device& device, const DeviceRequest& request) {
  const auto name = [&](std::string_view driver) { return fmt::format("{}{}", driver, request.port); };
  switch (device.kind) {
    case Device::Kind::pci:
    case Device::Kind::ring:
      return {};
    case Device::Kind::af_packet:
      return {{name("net_af_packet"), af_packet_arguments(device, request)}};
    case Device::Kind::af_xdp:
      return {{name("net_af_xdp"), af_xdp_arguments(device, request)}};
    case Device::Kind::tap:
      return {{name("net_tap"), fmt::format("iface={}", device.argument)}};
    case Device::Kind::pcap:
    case Device::Kind::pcap_loop:
      return {{name("net_pcap"), pcap_arguments(device)}};
    case Device::Kind::null_:
      return {{name("net_null"), "size=64,copy=0"}};
  }
  return {};
}

VirtualDevice twin_device(std::size_t port, std::string_view interface, std::string_view mac) {
  // Ports end at 31, so the names of twins begin behind them.
  return {fmt::format("net_tap{}", 100 + port), fmt::format("iface={},mac={}", interface, mac)};
}

}  // namespace guideway
