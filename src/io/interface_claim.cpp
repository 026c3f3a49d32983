#include "io/interface_claim.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <thread>

namespace guideway {
namespace {

struct AbstractName {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit AbstractName(const std::string& name) {
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);  // the first byte stays 0
    std::memcpy(address.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Fd new_socket() { return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// Who has the name.
struct Holder {
  bool listens = false;  // a guidewayd does, but for the moment between its taking the name and that
  std::optional<ucred> process;
  [[nodiscard]] bool may_have_the_interface() const {
    return listens && (!process || process->uid == 0 || process->uid == ::geteuid());
  }
  [[nodiscard]] std::string text() const {
    return process ? fmt::format("process {} of user {}", process->pid, process->uid) : "a process";
  }
};

Holder holder_of(const AbstractName& name) {
  Holder out;
  const Fd asking = new_socket();
  const bool connected = asking && ::connect(asking.get(), name.get(), name.size) == 0;
  out.listens = connected || errno == EAGAIN;  // others wait to be let in there
  ucred peer{};
  socklen_t size = sizeof peer;
  if (connected && ::getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) out.process = peer;
  return out;
}

}  // namespace

Result<Fd> claim_interface(const std::string& interface) {
  const AbstractName name("guideway/interface/" + interface);
  Holder holder;
  // Who has the name and does not listen is about to, or about to go.
  for (int attempt = 0; attempt < 10 && !holder.listens; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Fd claim = new_socket();
    if (claim && ::bind(claim.get(), name.get(), name.size) == 0 && ::listen(claim.get(), 1) == 0)
      return claim;
    const int error = errno;
    if (error != EADDRINUSE)
      return fail(ErrorKind::refused,
                  fmt::format("{} cannot be claimed: {}", interface, std::strerror(error)), {},
                  "raise the limit of open files");
    holder = holder_of(name);
  }
  // Anybody can take a name; who is neither root nor of our user cannot have the interface itself.
  if (!holder.may_have_the_interface()) {
    spdlog::warn("interface {}: {} has taken the name that keeps a second guidewayd away", interface,
                 holder.text());
    return Fd();
  }
  return fail(ErrorKind::refused,
              fmt::format("another guidewayd{} uses {} already",
                          holder.process ? fmt::format(" (process {})", holder.process->pid) : "", interface),
              {}, "stop that one, or give this one other interfaces");
}

}  // namespace guideway
