#include "command/svg_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "guideway/fd.h"

namespace guideway {
namespace {

tl::unexpected<Error> not_written(const std::string& path) {
  return fail(ErrorKind::refused,
              "the plot cannot be written: " + std::error_code(errno, std::generic_category()).message(),
              path, "choose another place for it");
}

bool is_plot(const Fd& file) {
  struct stat status {};
  std::array<char, svg_mark.size()> begin{};
  return ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::pread(file.get(), begin.data(), begin.size(), 0) == static_cast<ssize_t>(begin.size()) &&
         std::string_view(begin.data(), begin.size()) == svg_mark;
}

// An older plot, open for writing; no file where there is none.
Result<Fd> open_plot(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Fd();
    return not_written(path);
  }
  // Nobody waits for a pipe's other end here.
  Fd file(S_ISREG(status.st_mode) ? ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1);
  if (S_ISREG(status.st_mode) && !file) return not_written(path);
  if (!file || !is_plot(file)) {
    return fail(ErrorKind::refused, "there is something else than an older plot of guideway", path,
                "choose another name, or remove it first");
  }
  return file;
}

}  // namespace

Result<void> check_svg_place(const std::string& path) {
  if (path.empty()) return fail(ErrorKind::invalid, "the plot has no name", {}, "name a file");
  const auto there = open_plot(path);
  if (!there) return tl::unexpected(there.error());
  if (*there) return {};
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) return not_written(path);
  return {};
}

Result<void> write_svg(const std::string& path, std::string_view svg) {
  auto file = open_plot(path);
  if (!file) return tl::unexpected(file.error());
  const bool is_new = !*file;
  if (is_new) *file = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!*file) return not_written(path);
  const std::string text = std::string(svg_mark) + std::string(svg);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t part =
        ::pwrite(file->get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (part <= 0) {
      auto refusal = not_written(path);
      if (is_new) ::unlink(path.c_str());
      return refusal;
    }
    done += static_cast<std::size_t>(part);
  }
  if (::ftruncate(file->get(), static_cast<off_t>(text.size())) != 0) return not_written(path);
  return {};
}

}  // namespace guideway
