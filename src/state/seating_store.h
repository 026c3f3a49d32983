// Seating store: the seatings that the journal's versions refer to, each a file that is named by its content.
// What: writes what is not there, reads and checks what is, and removes what no version has.
// Cost: a seating is written once and shared by all versions that have it.
// Thread: control.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "guideway/placement.h"
#include "guideway/result.h"
#include "state/disk.h"

namespace guideway {

class SeatingStore {
 public:
  // Of the files of that name that there are now.
  void found(const std::set<std::string>& names);
  // Answers with the hash. A new file's name is durable after sync_names().
  [[nodiscard]] Result<std::string> put(Disk& disk, const std::shared_ptr<const Seating>& seating);
  [[nodiscard]] Result<std::shared_ptr<const Seating>> load(Disk& disk, const std::string& hash);
  [[nodiscard]] bool has(const std::string& hash) const { return on_disk_.contains(hash); }
  void remove_others(Disk& disk, const std::set<std::string>& used);

 private:
  std::set<std::string> on_disk_;  // hashes
  // Those that this process has read or written, so that the file is known to be good.
  std::map<std::string, std::weak_ptr<const Seating>> known_;
};

}  // namespace guideway
