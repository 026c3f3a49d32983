#include "control/api_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "control/api_peer.h"
#include "guideway/fd.h"

namespace guideway {
namespace {

constexpr int backlog = 1024;

std::string reason() { return std::error_code(errno, std::generic_category()).message(); }

tl::unexpected<Error> another_daemon(const std::string& path) {
  return fail(ErrorKind::refused, "another guidewayd answers on this socket", path,
              "stop it first, or give this one its own admin_socket in director.toml");
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return fail(ErrorKind::invalid,
                fmt::format("a socket's path has 1 to {} bytes", sizeof address.sun_path - 1), path,
                "set a shorter admin_socket in director.toml");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<int> take_lock(const std::string& path) {
  const std::string file = path + ".lock";
  Fd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) {
    return fail(ErrorKind::refused, "the lock cannot be made: " + reason(), file,
                "check that the directory exists and may be written");
  }
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return another_daemon(path);
  return lock.release();
}

// Removes what a dead daemon left; refuses what lives or is something else.
Result<void> clear_path(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) {
    return fail(ErrorKind::refused, "something that is no socket lies here", path,
                "move it away, or set another admin_socket in director.toml");
  }
  const Fd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (probe.get() >= 0 &&
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return another_daemon(path);
  }
  if (unlink(path.c_str()) != 0) {
    return fail(ErrorKind::refused, "the old socket cannot be removed: " + reason(), path,
                "remove it by hand");
  }
  return {};
}

Result<int> listen_at(const std::string& path, const sockaddr_un& address) {
  Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto refuse = [&](const char* what) {
    return fail(ErrorKind::refused, fmt::format("the socket cannot be {}: {}", what, reason()), path,
                "check the directory's rights, or set another admin_socket in director.toml");
  };
  if (listener.get() < 0) return refuse("made");
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return refuse("bound");
  // Nobody can connect before listen(), so the mode is right before the first question.
  const auto group = api_group();
  const bool owned = !group || chown(path.c_str(), static_cast<uid_t>(-1), *group) == 0;
  if (chmod(path.c_str(), owned ? 0660 : 0600) != 0 || listen(listener.get(), backlog) != 0) {
    const auto refusal = refuse("opened");
    unlink(path.c_str());
    return refusal;
  }
  return listener.release();
}

}  // namespace

Result<ApiSocket> ApiSocket::open(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected<Error>(address.error());
  std::error_code ignored;  // what is missing then shows when the lock is made
  std::filesystem::create_directory(std::filesystem::path(path).parent_path(), ignored);
  const auto lock = take_lock(path);
  if (!lock) return tl::unexpected<Error>(lock.error());
  Fd held(*lock);
  if (auto cleared = clear_path(path, *address); !cleared) return tl::unexpected<Error>(cleared.error());
  const auto listener = listen_at(path, *address);
  if (!listener) return tl::unexpected<Error>(listener.error());
  return ApiSocket(path, *listener, held.release());
}

ApiSocket::ApiSocket(ApiSocket&& other) noexcept
    : path_(std::move(other.path_)),
      socket_(std::exchange(other.socket_, -1)),
      lock_(std::exchange(other.lock_, -1)) {}

ApiSocket& ApiSocket::operator=(ApiSocket&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    socket_ = std::exchange(other.socket_, -1);
    lock_ = std::exchange(other.lock_, -1);
  }
  return *this;
}

ApiSocket::~ApiSocket() { close(); }

void ApiSocket::close() {
  if (socket_ < 0) return;
  unlink(path_.c_str());
  ::close(std::exchange(socket_, -1));
  // The lock's file stays: removing it would let two daemons each lock a file of that name.
  ::close(std::exchange(lock_, -1));
}

}  // namespace guideway
