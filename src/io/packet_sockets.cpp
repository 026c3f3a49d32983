#include "io/packet_sockets.h"

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
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

// The C library's, but for one flag of a packet socket.
extern "C" int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  std::uint32_t fanout = 0;  // packet(7): the group's number, then its mode and flags
  if (level == SOL_PACKET && name == PACKET_FANOUT && value != nullptr && size == sizeof fanout) {
    std::memcpy(&fanout, value, size);
    fanout &= ~(std::uint32_t{PACKET_FANOUT_FLAG_DEFRAG} << 16);
    value = &fanout;
  }
  return static_cast<int>(::syscall(SYS_setsockopt, fd, level, name, value, size));
}
