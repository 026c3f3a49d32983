#include "agent/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace guideway::agent {
namespace {

constexpr std::chrono::milliseconds attempt_pause{50};
constexpr int attempts = 200;

// Whether the locked file is still the one that others find at the path: who ended before took it away.
bool is_at(const Fd& file, const std::string& path) {
  struct stat locked, found;
  return ::fstat(file.get(), &locked) == 0 && ::lstat(path.c_str(), &found) == 0 &&
         locked.st_ino == found.st_ino && locked.st_dev == found.st_dev;
}

tl::unexpected<Error> cannot_lock(int error, const std::string& path) {
  if (error == EWOULDBLOCK)
    return fail(ErrorKind::refused, "another guideway-agent command is at work in this network namespace",
                path, "wait for it to end");
  return fail(ErrorKind::refused, fmt::format("cannot lock out other agents: {}", std::strerror(error)), path,
              "make /run a directory that root can write to");
}

}  // namespace

Lock::~Lock() {
  if (file_.get() >= 0) ::unlink(path_.c_str());
}

Result<Lock> take_lock() {
  if (::geteuid() != 0)
    return fail(ErrorKind::refused, "loading and looking into eBPF programs needs root", {},
                "run it with sudo");
  struct stat network {};
  if (::stat("/proc/self/ns/net", &network) != 0) return cannot_lock(errno, "/proc/self/ns/net");
  const std::string path = fmt::format("/run/guideway-agent.{}.lock", network.st_ino);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return cannot_lock(errno, path);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (is_at(file, path)) return Lock(std::move(file), path);
      continue;
    }
    if (errno != EWOULDBLOCK) return cannot_lock(errno, path);
    std::this_thread::sleep_for(attempt_pause);
  }
  return cannot_lock(EWOULDBLOCK, path);
}

}  // namespace guideway::agent
