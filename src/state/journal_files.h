// Journal files: what the files of a journal's directory are called. Epochs have as many digits each, so that names sort
//       by them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "guideway/result.h"
#include "state/disk.h"
#include "state/site_version.h"

namespace guideway {

[[nodiscard]] std::string version_name(Epoch epoch);  // site-<epoch>.toml
[[nodiscard]] std::string changes_name(Epoch epoch);  // changes-<epoch>: since that version
[[nodiscard]] std::optional<Epoch> version_in(std::string_view name);
[[nodiscard]] std::string seating_name(std::string_view hash);  // of its content
[[nodiscard]] std::optional<std::string> seating_in(std::string_view name);

// A file that is there whole or not at all: written aside, made durable, renamed. Its name is durable after
// sync_names().
[[nodiscard]] Result<void> put_file(Disk& disk, const std::string& name, std::string_view bytes);
// Whether put_file was cut off on the way to it. Everybody else's files are left alone.
[[nodiscard]] bool is_unfinished(std::string_view name);

// What is kept of all epochs that were ever given: a bound above them, in the name of an empty file, so that none is
// given twice whatever somebody takes away of the versions.
class EpochMark {
 public:
  void found(const std::set<std::string>& names);
  [[nodiscard]] Epoch highest() const { return marks_.empty() ? Epoch{} : *marks_.rbegin(); }  // 0: none
  [[nodiscard]] bool is_among(const std::set<std::string>& names) const;
  // Before the version itself, and made durable with its name.
  [[nodiscard]] Result<void> raise(Disk& disk, Epoch epoch);
  // Of a crash at the wrong moment. What cannot be removed stays.
  void remove_lower(Disk& disk);

 private:
  std::set<Epoch> marks_;
};

}  // namespace guideway
