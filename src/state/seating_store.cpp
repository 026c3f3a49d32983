#include "state/seating_store.h"

#include "state/journal_files.h"
#include "state/seating_file.h"

namespace guideway {

void SeatingStore::found(const std::set<std::string>& names) {
  on_disk_.clear();
  for (const std::string& name : names)
    if (auto hash = seating_in(name)) on_disk_.insert(std::move(*hash));
}

Result<std::string> SeatingStore::put(Disk& disk, const std::shared_ptr<const Seating>& seating) {
  const std::string bytes = seating_bytes(*seating);
  std::string hash = content_hash(bytes);
  if (!known_.contains(hash) || !on_disk_.contains(hash)) {
    if (auto done = put_file(disk, seating_name(hash), bytes); !done)
      return tl::unexpected(std::move(done.error()));
    on_disk_.insert(hash);
  }
  known_[hash] = seating;
  return hash;
}

Result<std::shared_ptr<const Seating>> SeatingStore::load(Disk& disk, const std::string& hash) {
  if (const auto found = known_.find(hash); found != known_.end())
    if (auto seating = found->second.lock()) return seating;
  auto bytes = disk.read(seating_name(hash));
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  const std::string where = disk.place(seating_name(hash));
  if (content_hash(*bytes) != hash) return fail(ErrorKind::internal, "the seating is damaged", where);
  auto parsed = parse_seating(*bytes);
  if (!parsed) return fail(ErrorKind::internal, parsed.error().what, where);
  auto seating = std::make_shared<const Seating>(std::move(*parsed));
  known_[hash] = seating;
  return seating;
}

void SeatingStore::remove_others(Disk& disk, const std::set<std::string>& used) {
  std::erase_if(on_disk_, [&](const std::string& hash) {
    return !used.contains(hash) && disk.remove(seating_name(hash));
  });
  std::erase_if(known_, [&](const auto& entry) { return !used.contains(entry.first); });
}

}  // namespace guideway
