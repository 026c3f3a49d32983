#include "agent/lock.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

namespace guideway::agent {
namespace {

constexpr std::string_view socket_name{"\0guideway-agent", 15};
constexpr std::chrono::milliseconds attempt_pause{50};
constexpr int attempts = 200;

}  // namespace

Result<Fd> take_lock() {
  if (::geteuid() != 0)
    return fail(ErrorKind::refused, "loading and looking into eBPF programs needs root", {},
                "run it with sudo");
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_name.data(), socket_name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_name.size());
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return socket;
    if (errno != EADDRINUSE) break;
    std::this_thread::sleep_for(attempt_pause);
  }
  return fail(ErrorKind::refused, fmt::format("cannot lock out other agents: {}", std::strerror(errno)), {},
              "wait for the guideway-agent command that is at work in this network namespace");
}

}  // namespace guideway::agent
