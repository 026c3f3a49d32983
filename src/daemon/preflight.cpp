#include "daemon/preflight.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>

#include "io/interface.h"
#include "io/virtual_device.h"
#include "state/device_name.h"

namespace guideway {
namespace {

using Kind = Device::Kind;

tl::unexpected<Error> refuse(std::string what, std::string next) {
  return fail(ErrorKind::refused, std::move(what), {}, std::move(next));
}

// director.toml was checked, so the string can be taken apart.
Device device_of(const PortConfig& port) { return parse_device(port.device).value_or(Device{}); }

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
        return refuse(fmt::format("port {} ({}) needs the right {}", port.name, port.device, right.name),
                      "start guidewayd as root, or by its systemd unit");
  return {};
}

Result<void> check_ports(const DirectorConfig& config) {
  for (const auto& port : config.ports) {
    const auto device = device_of(port);
    if (shares_interface(device) && if_nametoindex(device.argument.c_str()) == 0)
      return refuse(
          fmt::format("port {} ({}): there is no interface {} here", port.name, port.device, device.argument),
          "look at ip link show");
    if (port.queues > config.workers.size())
      return refuse(fmt::format("port {} ({}): {} queues for {} worker(s)", port.name, port.device,
                                port.queues, config.workers.size()),
                    "set queues to no more than there are workers, or add workers");
  }
  return {};
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
          fmt::format("port {} ({}): the kernel forwards packets of {} as well ({} is 1)", port.name,
                      port.device, device.argument, family.setting),
          fmt::format("sysctl -w {}=0, or device = \"af_xdp:{}\", which keeps services' packets from the "
                      "kernel",
                      family.setting, device.argument));
    }
  }
  return {};
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

// What looks into a running daemon from outside (dpdk-dumpcap) opens its hugepages as files.
Result<void> check_capture(const DirectorConfig& config) {
  if (!config.capture) return {};
  if (!config.hugepages)
    return refuse("capture = true needs hugepages, and hugepages = false", "leave one of the two out");
  std::ifstream mounts("/proc/mounts");
  for (std::string device, place, type, rest;
       mounts >> device >> place >> type && std::getline(mounts, rest);)
    if (type == "hugetlbfs") return {};
  return refuse("capture = true needs hugepages that are files, and no hugetlbfs is mounted",
                "mount -t hugetlbfs none /dev/hugepages");
}

Result<MemoryMode> choose_memory(const DirectorConfig& config, bool any_pci) {
  if (!config.hugepages) return MemoryMode::ordinary;
  if (free_hugepages() > 0) return MemoryMode::hugepages;
  if (any_pci || config.capture)
    return refuse(
        fmt::format("no hugepage is free, and {} needs them", any_pci ? "a PCI device" : "capture = true"),
        "echo 512 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  spdlog::warn(fmt::format(
      "no hugepage is free: going on in {} MB of ordinary memory; hugepages = false says so silently",
      config.memory_mb));
  return MemoryMode::ordinary;
}

// The runtime directory of DPDK: the same at every start of one daemon, another one for another daemon.
std::string runtime_prefix(const DirectorConfig& config) {
  if (config.admin_socket == DirectorConfig{}.admin_socket) return "guideway";
  return fmt::format("guideway-{:016x}", std::hash<std::string>{}(config.admin_socket));
}

bool covers(const Service& service, const IpAddress& address) {
  if (service.address.family != address.family) return false;
  for (unsigned bit = 0; bit < service.prefix_length; ++bit) {
    const unsigned mask = 0x80U >> bit % 8;
    if ((service.address.bytes[bit / 8] & mask) != (address.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

std::optional<IpAddress> address_of(const sockaddr* socket_address) {
  IpAddress out;
  if (socket_address == nullptr) return std::nullopt;
  if (socket_address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, socket_address, sizeof in);
    std::memcpy(out.bytes.data(), &in.sin_addr, 4);
    return out;
  }
  if (socket_address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in6{};
  std::memcpy(&in6, socket_address, sizeof in6);
  out.family = Family::ipv6;
  std::memcpy(out.bytes.data(), &in6.sin6_addr, 16);
  return out;
}

}  // namespace

Result<EalSettings> preflight(const DirectorConfig& config) {
  for (const auto check : {check_rights, check_ports, check_kernel_forwarding, check_capture})
    if (auto good = check(config); !good) return tl::unexpected(good.error());
  EalSettings out;
  out.workers = config.workers;
  out.cpus = usable_cpus();
  for (const auto& port : config.ports)
    if (auto device = device_of(port); device.kind == Kind::pci) out.pci_devices.push_back(device.argument);
  const auto memory = choose_memory(config, !out.pci_devices.empty());
  if (!memory) return tl::unexpected(memory.error());
  out.memory = *memory;
  out.memory_mb = config.memory_mb;
  out.capture = config.capture;
  out.prefix = runtime_prefix(config);
  if (auto arguments = eal_arguments(out); !arguments) return tl::unexpected(arguments.error());
  warn_of_veth(config);
  return out;
}

namespace {

struct LocalAddress {
  IpAddress address;
  std::string interface;
};

Result<std::vector<LocalAddress>> local_addresses() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0)
    return refuse(fmt::format("this host's addresses cannot be read: {}", std::strerror(errno)), "try again");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  std::vector<LocalAddress> out;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
    if (const auto local = address_of(one->ifa_addr)) out.push_back({*local, one->ifa_name});
  return out;
}

}  // namespace

void warn_of_foreign_sources(const DirectorConfig& config) {
  const auto local = local_addresses();
  if (!local) return;
  for (const auto& source : {config.source_ipv4, config.source_ipv6})
    if (source && std::none_of(local->begin(), local->end(),
                               [&](const LocalAddress& one) { return one.address == *source; }))
      spdlog::warn(
          fmt::format("source {} is no address of this host; ip address add it where backends are reached",
                      source->text()));
}

Result<void> check_local_addresses(const Site& site) {
  const auto all = local_addresses();
  if (!all) return tl::unexpected(all.error());
  for (const auto& local : *all)
    for (const auto& service : site.services)
      if (covers(service, local.address))
        return refuse(
            fmt::format("service {}: its address {} is this host's own, on {}: its kernel would answer",
                        service.name, local.address.text(), local.interface),
            fmt::format("ip address delete {} dev {}, and route the address to this host instead",
                        local.address.text(), local.interface));
  return {};
}

}  // namespace guideway
