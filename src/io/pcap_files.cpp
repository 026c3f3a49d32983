#include "io/pcap_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "guideway/fd.h"
#include "state/device_name.h"

namespace guideway {
namespace {

struct Trouble {
  std::string what, next;
};

// nullopt: the driver will open it.
std::optional<Trouble> reading(const std::string& path) {
  const char* whole_path = "write the whole path of a file that guidewayd may read";
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Trouble{std::strerror(errno), whole_path};
  if (!S_ISREG(status.st_mode)) return Trouble{"it is no file", "name a capture"};
  Fd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) return Trouble{std::strerror(errno), whole_path};
  std::FILE* file = ::fdopen(descriptor.get(), "rb");
  if (file == nullptr) return Trouble{std::strerror(errno), "free some memory"};
  (void)descriptor.release();
  std::array<char, PCAP_ERRBUF_SIZE> reason{};
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> capture(pcap_fopen_offline(file, reason.data()),
                                                           pcap_close);
  if (!capture) {
    std::fclose(file);
    return Trouble{fmt::format("it is no capture ({})", reason.data()),
                   "give it a pcap or pcapng file, not compressed"};
  }
  if (pcap_datalink(capture.get()) == DLT_EN10MB) return std::nullopt;
  const char* name = pcap_datalink_val_to_name(pcap_datalink(capture.get()));
  return Trouble{fmt::format("its link type is {}", name == nullptr ? "unknown" : name),
                 "use a capture of Ethernet frames"};
}

std::optional<Trouble> writing(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return Trouble{"it is a directory", "name a file in it"};
    if (Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC))) return std::nullopt;
    return Trouble{std::strerror(errno), "name a file that guidewayd may write"};
  }
  auto directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) directory = ".";
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return std::nullopt;
  return Trouble{fmt::format("its directory {}: {}", directory.string(), std::strerror(errno)),
                 "name a file in a directory that is there and that guidewayd may write to"};
}

// By which two names of one file are known.
std::string place_of(const std::string& path) {
  std::error_code error;
  const auto out = std::filesystem::weakly_canonical(path, error);
  return error ? path : out.string();
}

}  // namespace

Result<void> check_pcap_files(std::span<const PortConfig> ports) {
  std::map<std::string, std::string> users;  // of each file: the port
  for (const auto& port : ports) {
    const auto device = parse_device(port.device);
    if (!device || !device->reads_capture()) continue;
    const auto refuse = [&](const char* doing, const std::string& path, Trouble trouble) {
      return fail(
          ErrorKind::refused,
          fmt::format("port {} ({}): {} cannot be {}: {}", port.name, port.device, path, doing, trouble.what),
          {}, std::move(trouble.next));
    };
    if (auto trouble = reading(device->argument))
      return refuse("read", device->argument, std::move(*trouble));
    if (!device->output.empty())
      if (auto trouble = writing(device->output))
        return refuse("written", device->output, std::move(*trouble));
    for (const auto& path : {device->argument, device->output}) {
      if (path.empty() || place_of(path) == "/dev/null") continue;
      const auto [user, first] = users.try_emplace(place_of(path), port.name);
      if (first) continue;
      return refuse("used", path,
                    {fmt::format("port {} has it already", user->second), "name a file of its own for each"});
    }
  }
  return {};
}

}  // namespace guideway
