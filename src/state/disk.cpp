#include "state/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "guideway/fd.h"

namespace guideway {
namespace {

constexpr std::size_t file_size_max = 256U << 20;

tl::unexpected<Error> failed(std::string_view action, std::string where, int error) {
  std::string_view next = "check the disk and the directory's permissions";
  if (error == ENOSPC || error == EDQUOT) next = "free some space on that file system";
  return fail(ErrorKind::internal, fmt::format("cannot {} ({})", action, std::strerror(error)),
              std::move(where), std::string(next));
}

tl::unexpected<Error> no_file(std::string where) {
  return fail(ErrorKind::internal, "it is no file, but a pipe, a device or a directory", std::move(where),
              "move it away: this directory is guidewayd's own");
}

class Directory final : public Disk {
 public:
  Directory(std::filesystem::path path, Fd directory, Fd lock)
      : path_(std::move(path)), directory_(std::move(directory)), lock_(std::move(lock)) {}

  Result<std::vector<std::string>> list() override {
    std::vector<std::string> out;
    std::error_code error;
    for (std::filesystem::directory_iterator it(path_, error), end; !error && it != end; it.increment(error))
      out.push_back(it->path().filename().string());
    if (error) return failed("list the directory", path_.string(), error.value());
    return out;
  }

  Result<std::string> read(const std::string& name) override {
    // O_NONBLOCK: a pipe in a file's place would wait for its writer.
    const Fd file(::openat(directory_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return failed("open the file", place(name), errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed("read the file", place(name), errno);
    if (!S_ISREG(status.st_mode)) return no_file(place(name));
    if (static_cast<std::size_t>(status.st_size) > file_size_max)
      return failed("read the file", place(name), EFBIG);
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("read the file", place(name), errno);
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    bytes.resize(done);
    return bytes;
  }

  Result<void> write_file(const std::string& name, std::string_view bytes) override {
    const Fd file(::openat(directory_.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640));
    if (!file) return failed("create the file", place(name), errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed("create the file", place(name), errno);
    if (!S_ISREG(status.st_mode)) return no_file(place(name));
    while (!bytes.empty()) {
      const ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("write the file", place(name), errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    if (::fsync(file.get()) != 0) return failed("make the file durable", place(name), errno);
    return {};
  }

  Result<void> begin_overwrite(const std::string& name, std::size_t offset, std::string_view bytes) override {
    Fd file(::openat(directory_.get(), name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return failed("open the file", place(name), errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed("open the file", place(name), errno);
    if (!S_ISREG(status.st_mode)) return no_file(place(name));
    if (static_cast<std::size_t>(status.st_size) < offset + bytes.size())
      return fail(ErrorKind::internal, "somebody has cut the file", place(name),
                  "restart guidewayd, which tells what is left");
    const std::size_t begin = offset;
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("write the file", place(name), errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      offset += static_cast<std::size_t>(n);
    }
    // Only saves time; whether it works is told by the fdatasync.
    (void)::sync_file_range(file.get(), static_cast<off_t>(begin), static_cast<off_t>(offset - begin),
                            SYNC_FILE_RANGE_WRITE);
    begun_ = std::move(file);
    begun_name_ = name;
    return {};
  }

  Result<void> finish_overwrite() override {
    const Fd file = std::move(begun_);
    if (::fdatasync(file.get()) != 0) return failed("make the file durable", place(begun_name_), errno);
    return {};
  }

  bool holds(const std::string& name) override {
    return ::faccessat(directory_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  }

  Result<void> rename_file(const std::string& from, const std::string& to) override {
    if (::renameat(directory_.get(), from.c_str(), directory_.get(), to.c_str()) != 0)
      return failed("rename to it", place(to), errno);
    return {};
  }

  Result<void> remove_file(const std::string& name) override {
    if (::unlinkat(directory_.get(), name.c_str(), 0) != 0 && errno != ENOENT)
      return failed("remove the file", place(name), errno);
    return {};
  }

  Result<void> sync_directory() override {
    if (::fsync(directory_.get()) != 0) return failed("make the directory durable", path_.string(), errno);
    return {};
  }

  std::string place(const std::string& name) const override { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  Fd directory_, lock_;
  Fd begun_;  // being overwritten
  std::string begun_name_;
};

// The process that wrote its number into the lock file.
std::string holder_of(int lock) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(lock, text.data(), text.size() - 1, 0);
  long pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::max<ssize_t>(size, 0), pid);
  return error == std::errc{} && end != text.data() ? fmt::format("process {}", pid) : "another process";
}

Result<Fd> lock_in(const Fd& directory, const std::filesystem::path& path) {
  const std::string where = (path / "lock").string();
  Fd lock(::openat(directory.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!lock) return failed("open the lock file", where, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failed("lock the directory", where, errno);
    return fail(ErrorKind::refused, fmt::format("the state directory is in use by {}", holder_of(lock.get())),
                path.string(), "stop that daemon, or give this one another state_dir");
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock.get(), 0) != 0 || ::pwrite(lock.get(), pid.data(), pid.size(), 0) < 0)
    return failed("write the lock file", where, errno);
  return lock;
}

// With those above it, where they are missing; their names are durable then, or the site that is stored there would not
// be.
Result<void> create(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(directory, error);
  while (!error && !std::filesystem::exists(there, error) && there.has_relative_path())
    there = there.parent_path();
  const bool created = !error && std::filesystem::create_directories(directory, error);
  if (error) return failed("create the state directory", directory.string(), error.value());
  if (!created) return {};
  std::filesystem::permissions(directory, std::filesystem::perms(0750), error);
  for (std::filesystem::path made = std::filesystem::absolute(directory); made != there;
       made = made.parent_path()) {
    const Fd above(::open(made.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!above || ::fsync(above.get()) != 0)
      return failed("make the state directory durable", made.string(), errno);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Disk>> open_directory(const std::filesystem::path& directory) {
  if (auto created = create(directory); !created) return tl::unexpected(std::move(created.error()));
  Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return failed("open the state directory", directory.string(), errno);
  auto lock = lock_in(opened, directory);
  if (!lock) return tl::unexpected(std::move(lock.error()));
  return std::make_unique<Directory>(directory, std::move(opened), std::move(*lock));
}

}  // namespace guideway
