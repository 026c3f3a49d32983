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
  [[nodiscard]] Result<void> write(const std::string& name, std::string_view bytes) {
    names_are_durable_ = false;
    return write_file(name, bytes);
  }
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
  [[nodiscard]] Result<void> rename(const std::string& from, const std::string& to) {
    names_are_durable_ = false;
    return rename_file(from, to);
  }
  // Of a file that may not be there.
  [[nodiscard]] Result<void> remove(const std::string& name) {
    names_are_durable_ = false;
    return remove_file(name);
  }
  // Every name is as durable as it can be seen, also those that another process left behind, or that an earlier try
  // of this could not make so. Costs nothing where all of them are.
  [[nodiscard]] Result<void> sync_names() {
    if (names_are_durable_) return {};
    auto done = sync_directory();
    names_are_durable_ = done.has_value();
    return done;
  }
  // The directory, for messages.
  [[nodiscard]] virtual std::string place(const std::string& name) const = 0;

 protected:
  virtual Result<void> write_file(const std::string& name, std::string_view bytes) = 0;
  virtual Result<void> rename_file(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove_file(const std::string& name) = 0;
  virtual Result<void> sync_directory() = 0;

 private:
  bool names_are_durable_ = false;
};

// A directory of the file system, created where it is missing and locked for the life of the object, so that two
// daemons never share it.
[[nodiscard]] Result<std::unique_ptr<Disk>> open_directory(const std::filesystem::path& directory);

}  // namespace guideway
