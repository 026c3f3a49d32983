#include "bench/director/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "bench/director/give_up.h"

namespace guideway::bench {
namespace {

using Clock = std::chrono::steady_clock;

int notification_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) give_up("the path of the build directory is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  unlink(path.c_str());
  const int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (out < 0 || bind(out, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    give_up("no socket to be told on");
  return out;
}

bool told_ready(int socket) {
  pollfd waiting{socket, POLLIN, 0};
  std::array<char, 256> text{};
  if (poll(&waiting, 1, 10'000) <= 0) return false;
  const ssize_t size = recv(socket, text.data(), text.size(), 0);
  return size > 0 && std::string_view(text.data(), static_cast<std::size_t>(size)).starts_with("READY=1");
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const std::string& directory) {
  const std::string told = directory + "/notify";
  const int socket = notification_socket(told);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto begin = Clock::now();
  pid_ = fork();
  if (pid_ < 0) give_up("no process");
  if (pid_ == 0) {
    setenv("NOTIFY_SOCKET", told.c_str(), 1);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  const bool ready = told_ready(socket);
  took_ = Clock::now() - begin;
  close(socket);
  if (!ready) give_up(words[0] + " has not become ready");
}

Process::~Process() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

std::chrono::nanoseconds Process::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0)
    give_up("a process has no CPU time");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace guideway::bench
