#include "veth.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace guideway {

bool enter_own_network() { return geteuid() == 0 && unshare(CLONE_NEWNET) == 0 && run("ip link set lo up"); }

bool run(const std::string& command) {
  return std::system(("{ " + command + "; } > /dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  for (int c = 0; pipe != nullptr && (c = fgetc(pipe)) != EOF;) out.push_back(static_cast<char>(c));
  if (pipe != nullptr) pclose(pipe);
  return out;
}

bool make_veth(const std::string& name, unsigned mtu) {
  return run(fmt::format("ip link add {0} mtu {1} type veth peer name {0}-far mtu {1}", name, mtu)) &&
         run(fmt::format("ethtool -K {0} tx off; ethtool -K {0}-far tx off; true", name)) &&
         run(fmt::format("sysctl -w net.ipv6.conf.{0}.disable_ipv6=1 net.ipv6.conf.{0}-far.disable_ipv6=1",
                         name)) &&
         run(fmt::format("ip link set {0} up && ip link set {0}-far up", name));
}

FarEnd::FarEnd(const std::string& interface)
    : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(socket_);
    socket_ = -1;
  }
}

FarEnd::~FarEnd() {
  if (socket_ >= 0) close(socket_);
}

bool FarEnd::send(const Frame& frame) const {
  return ::send(socket_, frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size());
}

std::optional<Frame> FarEnd::receive(const std::function<bool(const Frame&)>& wanted,
                                     std::chrono::milliseconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd readable{socket_, POLLIN, 0};
    if (left.count() <= 0) return std::nullopt;
    if (poll(&readable, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<std::uint8_t, 65536> buffer;
    sockaddr_ll from{};
    socklen_t from_size = sizeof from;
    const auto size = recvfrom(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT,
                               reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0 || from.sll_pkttype == PACKET_OUTGOING) continue;
    Frame frame(buffer.begin(), buffer.begin() + size);
    if (wanted(frame)) return frame;
  }
}

}  // namespace guideway
