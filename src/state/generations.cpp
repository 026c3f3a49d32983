#include "state/generations.h"

#include <fmt/format.h>

#include "state/change_file.h"
#include "state/change_record.h"
#include "state/journal_files.h"
#include "state/site_file.h"
#include "state/version_file.h"

namespace guideway {
namespace {

std::optional<Error> scan_changes(Disk& disk, Epoch epoch, Generation& generation) {
  const std::string where = disk.place(changes_name(epoch));
  const auto bytes = disk.read(changes_name(epoch));
  if (!bytes) return bytes.error();
  const ChangeFile file = read_changes(*bytes);
  for (const std::string_view text : file.records) {
    auto lines = record_lines(text, where);
    if (!lines) return std::move(lines.error());
    const Epoch before = generation.changes.empty() ? epoch : generation.changes.back();
    if (lines->epoch <= before)
      return Error{ErrorKind::internal,
                   fmt::format("epoch {} follows epoch {}", to_index(lines->epoch), to_index(before)), where,
                   ""};
    generation.changes.push_back(lines->epoch);
    generation.deals += lines->seatings.empty() ? 0U : 1U;
    for (auto& [pool, hash] : lines->seatings) generation.seatings.insert(std::move(hash));
  }
  generation.end = file.end;
  generation.cut_off = file.cut_off;
  if (!file.damaged_at) return std::nullopt;
  return Error{
      ErrorKind::internal,
      bytes->size() != change_file_bytes
          ? fmt::format("the file has {} bytes instead of {}", bytes->size(), change_file_bytes)
          : fmt::format("what stands at byte {} is damaged, and a good change follows", *file.damaged_at),
      where, ""};
}

// The first changes of a generation, on its version.
Result<void> carry_over(Disk& disk, const VersionPlace& place, StoredVersion& stored) {
  const std::string name = changes_name(place.generation), where = disk.place(name);
  const auto bytes = disk.read(name);
  if (!bytes) return tl::unexpected(bytes.error());
  const ChangeFile file = read_changes(*bytes);
  if (file.records.size() < place.changes)
    return fail(ErrorKind::internal, "changes that were there have gone", where);
  SiteVersion& version = stored.version;
  for (std::size_t i = 0; i < place.changes; ++i) {
    auto record = parse_record(file.records[i], where);
    if (!record) return tl::unexpected(std::move(record.error()));
    version.epoch = record->epoch;
    version.site = with(std::move(version.site), record->delta);
    for (const std::string& pool : record->delta.pools_gone) stored.hashes.erase(pool);
    for (auto& [pool, hash] : record->seatings) stored.hashes.insert_or_assign(pool, std::move(hash));
  }
  if (auto checked = check_site(version.site); !checked) {
    checked.error().where = where;
    return checked;
  }
  return {};
}

Result<StoredVersion> read_unadvised(Disk& disk, SeatingStore& seatings, const VersionPlace& place) {
  const std::string name = version_name(place.generation);
  auto bytes = disk.read(name);
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  auto file = parse_version(*bytes, disk.place(name));
  if (!file) return tl::unexpected(std::move(file.error()));
  if (file->epoch != place.generation)
    return fail(ErrorKind::internal, fmt::format("the file holds epoch {}", to_index(file->epoch)),
                disk.place(name));
  StoredVersion out{{file->epoch, std::move(file->site), {}}, std::move(file->seatings)};
  if (place.changes > 0)
    if (auto changed = carry_over(disk, place, out); !changed)
      return tl::unexpected(std::move(changed.error()));
  for (const Pool& pool : out.version.site.pools) {
    auto seating = seatings.load(disk, out.hashes[pool.name]);
    if (!seating) return tl::unexpected(std::move(seating.error()));
    if (!fits(**seating, out.version.site, pool))
      return fail(ErrorKind::internal,
                  fmt::format("the seating of pool \"{}\" is not of its backends", pool.name),
                  disk.place(name));
    out.version.seatings.emplace(pool.name, std::move(*seating));
  }
  return out;
}

}  // namespace

bool Generation::is_nearly_full() const {
  return changes.size() >= changes_max || deals >= deals_max || end > change_file_bytes / 4 * 3;
}

Epoch last_epoch(Epoch generation) { return Epoch{to_index(generation) + Generation::changes_max}; }
Epoch newest_epoch(const Generations::value_type& generation) {
  const auto& [epoch, held] = generation;
  return held.changes.empty() ? epoch : held.changes.back();
}

std::map<Epoch, VersionPlace> versions_of(const Generations& generations) {
  std::map<Epoch, VersionPlace> out;
  for (const auto& [epoch, generation] : generations) {
    out[epoch] = {epoch, 0};
    for (std::size_t i = 0; i < generation.changes.size(); ++i) out[generation.changes[i]] = {epoch, i + 1};
  }
  return out;
}

Generation scan_generation(Disk& disk, Epoch epoch, bool has_changes) {
  Generation out;
  const std::string name = version_name(epoch);
  if (auto bytes = disk.read(name)) {
    if (auto hashes = seatings_in(*bytes, name)) {
      out.readable = true;
      for (auto& [pool, hash] : *hashes) out.seatings.insert(std::move(hash));
    }
  }
  out.has_changes = has_changes;
  if (has_changes) out.damage = scan_changes(disk, epoch, out);
  return out;
}

Result<StoredVersion> read_version(Disk& disk, SeatingStore& seatings, const Generations& generations,
                                   const VersionPlace& place) {
  auto out = read_unadvised(disk, seatings, place);
  if (!out) return tl::unexpected(with_advice(std::move(out.error()), disk, generations, place));
  return out;
}

Error with_advice(Error error, const Disk& disk, const Generations& generations, const VersionPlace& place) {
  if (place.changes > 0) {
    error.what = fmt::format("the changes since epoch {} of the site cannot be used: {}",
                             to_index(place.generation), error.what);
    error.next = fmt::format("restore it from a backup, or move {} away to go on with epoch {}",
                             disk.place(changes_name(place.generation)), to_index(place.generation));
    return error;
  }
  const std::string file = disk.place(version_name(place.generation));
  const auto found = generations.find(place.generation);
  error.what = fmt::format("epoch {} of the site cannot be used: {}", to_index(place.generation), error.what);
  error.next =
      fmt::format("restore it from a backup, or move {} away {}", file,
                  found == generations.begin()
                      ? "and start with --site FILE"
                      : fmt::format("to go on with epoch {}", to_index(newest_epoch(*std::prev(found)))));
  return error;
}

}  // namespace guideway
