// Own directory: where a measurement has its files; it goes with the process that made it.
// What: beside the program, so that fsync costs what it costs on a disk, as /tmp may be memory.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/director/give_up.h"

namespace guideway::bench {

inline std::string own_directory() {
  static std::vector<std::pair<pid_t, std::string>> made;
  static const int registered = std::atexit([] {
    std::error_code error;
    for (const auto& [process, name] : made)
      if (process == getpid()) std::filesystem::remove_all(name, error);
  });
  (void)registered;
  std::string name = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) give_up("no directory can be made beside this program");
  made.emplace_back(getpid(), name);
  return name;
}

}  // namespace guideway::bench
