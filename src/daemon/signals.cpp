#include "daemon/signals.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace guideway {

Result<Signals> Signals::block() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) sigaddset(&set, signal);
  const int status = pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = status == 0 ? signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
  if (descriptor < 0)
    return fail(ErrorKind::internal,
                fmt::format("signals cannot be read: {}", std::strerror(status != 0 ? status : errno)));
  return Signals(descriptor);
}

Signals::~Signals() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string Signals::wait(std::chrono::milliseconds limit) const {
  pollfd wanted{descriptor_, POLLIN, 0};
  // Interrupted (a TAP device raises SIGIO) is as good as the time being up.
  if (poll(&wanted, 1, static_cast<int>(limit.count())) <= 0) return {};
  signalfd_siginfo info{};
  while (read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGTERM) return "SIGTERM";
    if (info.ssi_signo == SIGINT) return "SIGINT";
  }
  return {};
}

}  // namespace guideway
