#include "toml/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "guideway/fd.h"

namespace guideway {
namespace {

tl::unexpected<Error> unreadable(const std::string& path, int error) {
  return fail(ErrorKind::invalid, fmt::format("cannot be read ({})", std::strerror(error)), path,
              "check that it is a file");
}

// Whether there is something to read, or the end; a file always says so.
bool within(const Fd& file, std::chrono::milliseconds patience) {
  pollfd wanted{file.get(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const int ready = ::poll(&wanted, 1, std::max(0, static_cast<int>(left.count())));
    if (ready >= 0 || errno != EINTR) return ready != 0;
  }
}

}  // namespace

Result<std::string> read_text(const std::string& path, std::chrono::milliseconds patience) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return fail(ErrorKind::invalid, fmt::format("cannot be opened ({})", std::strerror(errno)), path,
                "check the path and its permissions");
  std::string text;
  std::string chunk(1U << 16, '\0');
  for (;;) {
    if (!within(file, patience))
      return fail(ErrorKind::invalid,
                  fmt::format("it is no file, and nothing came out of it for {:g} s",
                              std::chrono::duration<double>(patience).count()),
                  path, "name a file, or a pipe that somebody writes to");
    const ssize_t size = ::read(file.get(), chunk.data(), chunk.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return unreadable(path, errno);
    if (size == 0) return text;
    text.append(chunk, 0, static_cast<std::size_t>(size));
    if (text.size() > text_bytes_max)
      return fail(ErrorKind::invalid, fmt::format("the file has more than {} bytes", text_bytes_max), path,
                  "check that it is the right file");
  }
}

}  // namespace guideway
