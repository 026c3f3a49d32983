#include "state/seating_store.h"

#include "state/seating_file.h"

namespace guideway {
namespace {

std::string file_name(const std::string& hash) { return std::string(SeatingStore::prefix) + hash; }

}  // namespace

Result<void> put_file(Disk& disk, const std::string& name, std::string_view bytes) {
  const std::string unfinished = name + std::string(unfinished_suffix);
  auto done = disk.write(unfinished, bytes);
  if (done) done = disk.rename(unfinished, name);
  if (!done) (void)disk.remove(unfinished);
  return done;
}

void SeatingStore::found(const std::set<std::string>& names) {
  on_disk_.clear();
  for (const std::string& name : names)
    if (name.starts_with(prefix) && !name.ends_with(unfinished_suffix))
      on_disk_.insert(name.substr(prefix.size()));
}

Result<std::string> SeatingStore::put(Disk& disk, const std::shared_ptr<const Seating>& seating,
                                      bool& written) {
  const std::string bytes = seating_bytes(*seating);
  std::string hash = content_hash(bytes);
  if (!known_.contains(hash) || !on_disk_.contains(hash)) {
    if (auto done = put_file(disk, file_name(hash), bytes); !done)
      return tl::unexpected(std::move(done.error()));
    on_disk_.insert(hash);
    written = true;
  }
  known_[hash] = seating;
  return hash;
}

Result<std::shared_ptr<const Seating>> SeatingStore::load(Disk& disk, const std::string& hash) {
  if (const auto found = known_.find(hash); found != known_.end())
    if (auto seating = found->second.lock()) return seating;
  auto bytes = disk.read(file_name(hash));
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  const std::string where = disk.place(file_name(hash));
  if (content_hash(*bytes) != hash) return fail(ErrorKind::internal, "the seating is damaged", where);
  auto parsed = parse_seating(*bytes);
  if (!parsed) return fail(ErrorKind::internal, parsed.error().what, where);
  auto seating = std::make_shared<const Seating>(std::move(*parsed));
  known_[hash] = seating;
  return seating;
}

void SeatingStore::remove_others(Disk& disk, const std::set<std::string>& used) {
  std::erase_if(on_disk_, [&](const std::string& hash) {
    return !used.contains(hash) && disk.remove(file_name(hash));
  });
  std::erase_if(known_, [&](const auto& entry) { return !used.contains(entry.first); });
}

}  // namespace guideway
