#include "io/interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
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

int set_interface_mtu(const std::string& interface, std::uint16_t mtu) {
  ifreq request{};
  request.ifr_mtu = mtu;
  return ask(SIOCSIFMTU, interface, request);
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
