#include "agent/preflight.h"

#include <fmt/format.h>

#include <algorithm>

namespace guideway::agent {
namespace {

bool has_ipv4(const std::vector<Prefix>& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const Prefix& p) { return p.address.family == Family::ipv4; });
}

bool has_one_of(const std::vector<IpAddress>& addresses, const Prefix& prefix) {
  return std::any_of(addresses.begin(), addresses.end(), [&](const IpAddress& address) {
    return prefix.covers({address, static_cast<std::uint8_t>(address.size() * 8)});
  });
}

void check_arp(const Interface& interface, std::vector<std::string>& out) {
  if (ipv4_setting(interface, "arp_ignore") == 0)
    out.push_back(
        fmt::format("{}: arp_ignore is 0, so this host answers ARP for service addresses; "
                    "set net.ipv4.conf.all.arp_ignore=1",
                    interface.name));
  if (ipv4_setting(interface, "arp_announce") < 2)
    out.push_back(
        fmt::format("{}: arp_announce is below 2, so this host asks ARP from service addresses; "
                    "set net.ipv4.conf.all.arp_announce=2",
                    interface.name));
}

}  // namespace

std::vector<std::string> preflight(const Interface& interface, const Lists& lists) {
  std::vector<std::string> out;
  if (has_ipv4(lists.services)) {
    if (ipv4_setting(interface, "rp_filter") == 1)
      out.push_back(
          fmt::format("{0}: rp_filter is strict, so packets of clients that are routed elsewhere are lost "
                      "without a word; set net.ipv4.conf.{0}.rp_filter=2",
                      interface.name));
    check_arp(interface, out);
  }
  const std::vector<IpAddress> own = host_addresses();
  for (const Prefix& service : lists.services) {
    // Of a prefix, a host may serve some addresses; the kernel also knows routes that make all of it local.
    if (is_host_address(service.address) || has_one_of(own, service)) continue;
    const std::string text = service.text();
    out.push_back(
        service.is_full()
            ? fmt::format("service address {0} is not on this host; `ip addr add {0}/{1} dev lo`", text,
                          service.length)
            : fmt::format("service addresses {0} are not on this host; `ip route add local {0} dev lo`",
                          text));
  }
  return out;
}

}  // namespace guideway::agent
