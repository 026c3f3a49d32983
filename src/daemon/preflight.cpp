#include "daemon/preflight.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>

#include "daemon/port_preflight.h"
#include "state/device_name.h"

namespace guideway {
namespace {

tl::unexpected<Error> refuse(std::string what, std::string next) {
  return fail(ErrorKind::refused, std::move(what), {}, std::move(next));
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
                "mkdir -p /dev/hugepages, and mount -t hugetlbfs none /dev/hugepages");
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
  for (const auto check : {check_ports, check_capture})
    if (auto good = check(config); !good) return tl::unexpected(good.error());
  EalSettings out;
  out.workers = config.workers;
  out.cpus = usable_cpus();
  for (const auto& port : config.ports)
    if (auto device = parse_device(port.device); device && device->kind == Device::Kind::pci)
      out.pci_devices.push_back(device->argument);
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

Result<void> check_local_addresses(const Site& site, const Site& good) {
  if (site.services.shares(good.services)) return {};
  const SharedWith<Service> served(good.services);
  const auto all = local_addresses();
  if (!all) return tl::unexpected(all.error());
  for (const auto& local : *all)
    for (const auto& service : site.services)
      if (!served.contains(service) && covers(service, local.address))
        return refuse(
            fmt::format("service {}: its address {} is this host's own, on {}: its kernel would answer",
                        service.name, local.address.text(), local.interface),
            fmt::format("ip address delete {} dev {}, and route the address to this host instead",
                        local.address.text(), local.interface));
  return {};
}

}  // namespace guideway
