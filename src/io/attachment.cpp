#include "io/attachment.h"

#include <fmt/format.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <spdlog/spdlog.h>

namespace guideway {
namespace {

constexpr unsigned ring_slots = 1024;

Result<rte_ring*> ring_of(const std::string& name, int socket) {
  rte_ring* ring = rte_ring_lookup(name.c_str());
  if (ring == nullptr) ring = rte_ring_create(name.c_str(), ring_slots, socket, 0);
  if (ring == nullptr)
    return fail(ErrorKind::refused, fmt::format("ring {} cannot be made: {}", name, rte_strerror(rte_errno)));
  return ring;
}

}  // namespace

Result<std::uint16_t> attach_virtual(const VirtualDevice& device) {
  const int status = rte_eal_hotplug_add("vdev", device.name.c_str(), device.arguments.c_str());
  std::uint16_t port = 0;
  if (status == 0 && rte_eth_dev_get_port_by_name(device.name.c_str(), &port) == 0) return port;
  return fail(ErrorKind::refused,
              fmt::format("the driver does not open it ({}): {}", device.arguments,
                          status == 0 ? "it made no port" : rte_strerror(-status)),
              {}, "see the lines of \"dpdk:\" above");
}

Result<std::uint16_t> find_pci(const std::string& address) {
  std::uint16_t port = 0;
  if (rte_eth_dev_get_port_by_name(address.c_str(), &port) == 0) return port;
  return fail(
      ErrorKind::refused, "no such device, or no DPDK driver is bound to it", {},
      fmt::format("look at dpdk-devbind.py --status and bind it: dpdk-devbind.py -b vfio-pci {}", address));
}

Result<std::uint16_t> attach_rings(const std::string& name, std::uint16_t queues, int socket) {
  std::vector<rte_ring*> rx, tx;
  for (std::uint16_t queue = 0; queue < queues; ++queue) {
    auto in = ring_of(fmt::format("{}_rx{}", name, queue), socket);
    if (!in) return tl::unexpected(in.error());
    auto out = ring_of(fmt::format("{}_tx{}", name, queue), socket);
    if (!out) return tl::unexpected(out.error());
    rx.push_back(*in);
    tx.push_back(*out);
  }
  const int port =
      rte_eth_from_rings(name.c_str(), rx.data(), queues, tx.data(), queues, static_cast<unsigned>(socket));
  if (port >= 0) return static_cast<std::uint16_t>(port);
  return fail(ErrorKind::refused, fmt::format("the ring driver refuses it: {}", rte_strerror(rte_errno)));
}

void detach(std::uint16_t dpdk_port) {
  rte_eth_dev_info info{};
  const bool known = rte_eth_dev_info_get(dpdk_port, &info) == 0;
  rte_eth_dev_stop(dpdk_port);
  rte_eth_dev_close(dpdk_port);
  // Virtual devices go altogether, so that the interface is as free as it was.
  if (known && info.device != nullptr && std::string_view(info.driver_name).starts_with("net_"))
    rte_dev_remove(info.device);
}

}  // namespace guideway
