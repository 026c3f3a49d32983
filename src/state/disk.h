// Disk: the few file operations that the journal's promise rests on, all within one directory.
// Why:  tests cut the power between and within them; nothing else of the journal knows of files.
// Thread: control.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/result.h"

namespace guideway {

class Disk {
 public:
  virtual ~Disk() = default;
  [[nodiscard]] virtual Result<std::vector<std::string>> list() = 0;
  [[nodiscard]] virtual Result<std::string> read(const std::string& name) = 0;
  // Creates or replaces the file; its bytes are durable when this returns, its name is not.
  [[nodiscard]] virtual Result<void> write(const std::string& name, std::string_view bytes) = 0;
  // Bytes within a file that is there and has them. They are on their way when this returns, and durable when
  // finish_overwrite() does; one at a time. Until then, and on an error of either, any of them may have changed, durably or
  // not.
  [[nodiscard]] virtual Result<void> begin_overwrite(const std::string& name, std::size_t offset,
                                                     std::string_view bytes) = 0;
  [[nodiscard]] virtual Result<void> finish_overwrite() = 0;
  // Both.
  [[nodiscard]] Result<void> overwrite(const std::string& name, std::size_t offset, std::string_view bytes) {
    if (auto begun = begin_overwrite(name, offset, bytes); !begun) return begun;
    return finish_overwrite();
  }
  [[nodiscard]] virtual bool holds(const std::string& name) = 0;
  // Atomic; durable after sync_names().
  [[nodiscard]] virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Result<void> remove(const std::string& name) = 0;
  [[nodiscard]] virtual Result<void> sync_names() = 0;
  // The directory, for messages.
  [[nodiscard]] virtual std::string place(const std::string& name) const = 0;
};

// A directory of the file system, created where it is missing and locked for the life of the object, so that two
// daemons never share it.
[[nodiscard]] Result<std::unique_ptr<Disk>> open_directory(const std::filesystem::path& directory);

}  // namespace guideway
