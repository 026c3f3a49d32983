#include "agent/interface.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string_view>

#include "guideway/fd.h"

namespace guideway::agent {
namespace {

std::optional<IpAddress> address_of(const sockaddr* address) {
  IpAddress out;
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof(v4));
    std::memcpy(out.bytes.data(), &v4.sin_addr, 4);
    return out;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof(v6));
  if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) return std::nullopt;
  out.family = Family::ipv6;
  std::memcpy(out.bytes.data(), &v6.sin6_addr, 16);
  return out;
}

// Of one interface, or of all where none is named.
std::vector<IpAddress> addresses_on(const char* interface) {
  std::vector<IpAddress> out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (interface != nullptr && std::string_view(interface) != entry->ifa_name) continue;
    if (const auto address = address_of(entry->ifa_addr)) out.push_back(*address);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int read_number(const std::string& path) {
  std::ifstream file(path);
  int number = -1;
  return file >> number ? number : -1;
}

}  // namespace

Result<Interface> find_interface(const std::string& name) {
  const unsigned index = if_nametoindex(name.c_str());
  if (index == 0)
    return fail(ErrorKind::not_found,
                fmt::format("there is no interface \"{}\" in this network namespace", name), {},
                "`ip link` lists them");
  return Interface{name, index};
}

std::vector<Interface> all_interfaces() {
  std::vector<Interface> out;
  const std::unique_ptr<struct if_nameindex, decltype(&if_freenameindex)> list(if_nameindex(),
                                                                               if_freenameindex);
  for (const auto* entry = list.get(); entry != nullptr && entry->if_index != 0; ++entry)
    out.push_back({entry->if_name, entry->if_index});
  return out;
}

std::vector<IpAddress> interface_addresses(const Interface& interface) {
  return addresses_on(interface.name.c_str());
}

std::vector<IpAddress> host_addresses() { return addresses_on(nullptr); }

int ipv4_setting(const Interface& interface, const std::string& key) {
  const int all = read_number(fmt::format("/proc/sys/net/ipv4/conf/all/{}", key));
  const int own = read_number(fmt::format("/proc/sys/net/ipv4/conf/{}/{}", interface.name, key));
  return std::max(all, own);
}

bool is_host_address(const IpAddress& address) {
  // Binding asks the kernel's own table of local routes, whichever interface an address stands on.
  const bool v6 = address.family == Family::ipv6;
  const Fd socket(::socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return true;  // cannot tell: no warning
  sockaddr_storage storage{};
  socklen_t length = 0;
  if (v6) {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    std::memcpy(&name.sin6_addr, address.bytes.data(), 16);
    std::memcpy(&storage, &name, length = sizeof(name));
  } else {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    std::memcpy(&name.sin_addr, address.bytes.data(), 4);
    std::memcpy(&storage, &name, length = sizeof(name));
  }
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&storage), length) == 0 ||
         errno != EADDRNOTAVAIL;
}

}  // namespace guideway::agent
