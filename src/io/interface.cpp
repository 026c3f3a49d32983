#include "io/interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "guideway/fd.h"

namespace guideway {
namespace {

// 0, or the negative errno.
int ask(unsigned long what, const std::string& interface, ifreq& request) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return -errno;
  interface.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return ::ioctl(socket.get(), what, &request) == 0 ? 0 : -errno;
}

}  // namespace

int set_interface_mtu(const std::string& interface, int mtu) {
  ifreq request{};
  request.ifr_mtu = mtu;
  return ask(SIOCSIFMTU, interface, request);
}

std::optional<int> interface_mtu(const std::string& interface) {
  ifreq request{};
  if (ask(SIOCGIFMTU, interface, request) != 0) return std::nullopt;
  return request.ifr_mtu;
}

std::optional<bool> is_promiscuous(const std::string& interface) {
  ifreq request{};
  if (ask(SIOCGIFFLAGS, interface, request) != 0) return std::nullopt;
  return (request.ifr_flags & IFF_PROMISC) != 0;
}

int set_promiscuous(const std::string& interface, bool promiscuous) {
  ifreq request{};
  if (const int status = ask(SIOCGIFFLAGS, interface, request); status != 0) return status;
  const int flags = promiscuous ? request.ifr_flags | IFF_PROMISC : request.ifr_flags & ~IFF_PROMISC;
  request.ifr_flags = static_cast<short>(flags);
  return ask(SIOCSIFFLAGS, interface, request);
}

bool is_ethernet(const std::string& interface) {
  ifreq request{};
  return ask(SIOCGIFHWADDR, interface, request) == 0 && request.ifr_hwaddr.sa_family == ARPHRD_ETHER;
}

std::string driver_of(const std::string& interface) {
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  request.ifr_data = reinterpret_cast<char*>(&driver);
  if (ask(SIOCETHTOOL, interface, request) != 0) return {};
  return {driver.driver, strnlen(driver.driver, sizeof driver.driver)};
}

Channels read_channels(const std::string& interface) {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request{};
  request.ifr_data = reinterpret_cast<char*>(&channels);
  if (ask(SIOCETHTOOL, interface, request) != 0) return {};
  return {std::max(channels.rx_count + channels.combined_count, 1U), channels.combined_count};
}

}  // namespace guideway
