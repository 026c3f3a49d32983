#include "io/packet_sockets.h"

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>

namespace guideway {
namespace {

bool is_bound_to(int fd, int index) {
  sockaddr_ll address{};
  socklen_t size = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.sll_family == AF_PACKET && address.sll_ifindex == index;
}

// Takes all of a frame, unless it is on its way out.
std::array<sock_filter, 4> incoming_only() {
  return {{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
           BPF_STMT(BPF_RET | BPF_K, 0xffffffff)}};
}

}  // namespace

unsigned ignore_outgoing(const std::string& interface) {
  const int index = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (index == 0) return 0;
  unsigned told = 0;
  auto instructions = incoming_only();
  const sock_fprog filter{static_cast<unsigned short>(instructions.size()), instructions.data()};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (fd < 0 || !is_bound_to(fd, index)) continue;
    if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0) ++told;
  }
  return told;
}

}  // namespace guideway
