#include "daemon/port_preflight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <net/if.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "guideway/fd.h"
#include "io/interface.h"
#include "io/interface_claim.h"
#include "io/pcap_files.h"
#include "io/twin.h"
#include "io/virtual_device.h"
#include "state/device_name.h"

namespace guideway {
namespace {

using Kind = Device::Kind;

// director.toml was checked, so the string can be taken apart.
Device device_of(const PortConfig& port) { return parse_device(port.device).value_or(Device{}); }

tl::unexpected<Error> refuse(const PortConfig& port, std::string_view what, std::string next) {
  return fail(ErrorKind::refused, fmt::format("port {} ({}): {}", port.name, port.device, what), {},
              std::move(next));
}

std::uint64_t effective_capabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    if (key != "CapEff:") continue;
    std::uint64_t set = 0;
    status >> std::hex >> set;
    return set;
  }
  return 0;
}

struct Right {
  unsigned bit;
  const char* name;
};

std::vector<Right> rights_for(const PortConfig& port) {
  const Right net_raw{CAP_NET_RAW, "CAP_NET_RAW"}, net_admin{CAP_NET_ADMIN, "CAP_NET_ADMIN"},
      sys_admin{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}, ipc_lock{CAP_IPC_LOCK, "CAP_IPC_LOCK"};
  switch (device_of(port).kind) {
    case Kind::af_packet:
      return {net_raw, net_admin};
    case Kind::af_xdp:
      return {net_raw, net_admin, sys_admin, ipc_lock};
    case Kind::tap:
      return {net_admin};
    case Kind::pci:
      return {net_admin, sys_admin, ipc_lock};
    default:
      return port.twin ? std::vector<Right>{net_admin} : std::vector<Right>{};
  }
}

Result<void> check_rights(const DirectorConfig& config) {
  const auto held = effective_capabilities();
  for (const auto& port : config.ports)
    for (const auto& right : rights_for(port))
      if ((held >> right.bit & 1U) == 0)
        return refuse(port, fmt::format("it needs the right {}", right.name),
                      "start guidewayd as root, or by its systemd unit");
  return {};
}

bool is_there(const std::string& interface) { return if_nametoindex(interface.c_str()) != 0; }

Result<void> check_shared_interface(const PortConfig& port, const std::string& interface) {
  if (!is_there(interface))
    return refuse(port, fmt::format("there is no interface {} here", interface), "look at ip link show");
  if (!is_ethernet(interface))
    return refuse(port, fmt::format("{} is no Ethernet interface", interface),
                  "name the interface that packets come in by");
  return {};
}

// A TAP interface is made at the start and goes with the process; one that is there already may be a TAP interface that
// somebody keeps for us, with its addresses.
Result<void> check_tap(const PortConfig& port, const std::string& interface, const char* key) {
  if (is_there(interface) && driver_of(interface) != "tun")
    return refuse(
        port,
        fmt::format("{} is to be a TAP interface, and there is another interface of this name", interface),
        fmt::format("choose another name for {}", key));
  if (!Fd(::open("/dev/net/tun", O_RDWR | O_CLOEXEC)))
    return refuse(port, fmt::format("no TAP interface can be made, /dev/net/tun: {}", std::strerror(errno)),
                  "modprobe tun, and start guidewayd as root");
  return {};
}

Result<void> check_interfaces(const PortConfig& port, const Device& device) {
  if (shares_interface(device)) return check_shared_interface(port, device.argument);
  if (device.kind == Kind::tap) return check_tap(port, device.argument, "device");
  return {};
}

Result<void> check_twin(const PortConfig& port, const Device& device) {
  if (!wants_twin(port, device)) return {};
  if (port.kernel_interface.empty() || port.kernel_interface == device.argument)
    return refuse(port, "twin = true makes a TAP interface, which needs a name of its own",
                  "set kernel_interface, as in \"gw-wan\"");
  return check_tap(port, port.kernel_interface, "kernel_interface");
}

Result<void> check_devices(const DirectorConfig& config) {
  for (const auto& port : config.ports) {
    const auto device = device_of(port);
    for (const auto check : {check_interfaces, check_twin})
      if (auto good = check(port, device); !good) return good;
    if (port.queues > config.workers.size())
      return refuse(port, fmt::format("{} queues for {} worker(s)", port.queues, config.workers.size()),
                    "set queues to no more than there are workers, or add workers");
  }
  return check_pcap_files(config.ports);
}

// With both on, every packet for a service is forwarded twice: by us, and by the kernel to wherever its route for the
// service address leads, which is most likely back to us.
Result<void> check_kernel_forwarding(const DirectorConfig& config) {
  struct Family {
    const char* path;
    const char* setting;
  };
  static constexpr Family families[] = {{"/proc/sys/net/ipv4/conf", "net.ipv4.ip_forward"},
                                        {"/proc/sys/net/ipv6/conf", "net.ipv6.conf.all.forwarding"}};
  for (const auto& port : config.ports) {
    const auto device = device_of(port);
    // With af_xdp the kernel never sees a packet for a service; a port with a twin is one whose interface was taken
    // from the kernel.
    if (device.kind != Kind::af_packet || port.twin) continue;
    for (const auto& family : families) {
      int forwarding = 0;
      std::ifstream(fmt::format("{}/{}/forwarding", family.path, device.argument)) >> forwarding;
      if (forwarding == 0) continue;
      return refuse(
          port,
          fmt::format("the kernel forwards packets of {} as well ({} is 1)", device.argument, family.setting),
          fmt::format("sysctl -w {}=0, or device = \"af_xdp:{}\", which keeps services' packets from the "
                      "kernel",
                      family.setting, device.argument));
    }
  }
  return {};
}

}  // namespace

Result<void> check_ports(const DirectorConfig& config) {
  for (const auto check : {check_rights, check_devices, check_kernel_forwarding})
    if (auto good = check(config); !good) return good;
  return {};
}

Result<std::vector<Fd>> claim_interfaces(const DirectorConfig& config) {
  std::vector<Fd> out;
  for (const auto& port : config.ports) {
    const auto device = device_of(port);
    if (!shares_interface(device)) continue;  // others are one process's by their nature
    auto claim = claim_interface(device.argument);
    if (!claim) return refuse(port, claim.error().what, claim.error().next);
    out.push_back(std::move(*claim));
  }
  return out;
}

// What comes in by a veth pair has no whole TCP or UDP checksum unless its other end makes them; nobody behind us does,
// so connections hang although pings pass. What the other end does cannot be seen from here.
void warn_of_veth(const DirectorConfig& config) {
  std::string ports;
  for (const auto& port : config.ports) {
    const auto device = device_of(port);
    if (!shares_interface(device) || driver_of(device.argument) != "veth") continue;
    ports += (ports.empty() ? "" : ", ") + fmt::format("{} ({})", port.name, device.argument);
  }
  if (ports.empty()) return;
  spdlog::warn(
      fmt::format("on a veth pair: {}; connections hang unless the other end makes checksums itself: ethtool "
                  "-K PEER tx off",
                  ports));
}

}  // namespace guideway
