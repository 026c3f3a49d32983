// A generation is a whole version, site-<epoch>.toml, and the changes since then, changes-<epoch>. A change is one record
// in the newest generation's change file, durable after one flush. A version that is no small change, or finds the
// generation full, begins the next one: its files are written aside (.tmp), made durable, and renamed, the version
// last, so that its name appears only after its change file and its seatings are there.
#include "state/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "state/change_file.h"
#include "state/change_record.h"
#include "state/seating_store.h"
#include "state/seatings.h"
#include "state/site_file.h"
#include "state/version_file.h"

namespace guideway {
namespace {

constexpr std::string_view version_prefix = "site-", version_suffix = ".toml";
constexpr std::string_view changes_prefix = "changes-";
constexpr std::string_view highest_prefix = "highest-epoch-";  // an empty file, renamed with every generation
constexpr std::size_t epoch_digits = 20;                       // so that names sort by epoch

// Of a generation. Each deal has a seating of its own, up to 20 MB of them, kept as long as the generation.
constexpr std::size_t changes_max = 64, deals_max = Journal::versions_kept;

std::string version_name(Epoch epoch) {
  return fmt::format("{}{:0{}}{}", version_prefix, to_index(epoch), epoch_digits, version_suffix);
}
std::string changes_name(Epoch epoch) {
  return fmt::format("{}{:0{}}", changes_prefix, to_index(epoch), epoch_digits);
}
std::string highest_name(Epoch epoch) {
  return fmt::format("{}{:0{}}", highest_prefix, to_index(epoch), epoch_digits);
}

std::optional<Epoch> epoch_in(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (name.size() != prefix.size() + epoch_digits + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix))
    return std::nullopt;
  const char* begin = name.data() + prefix.size();
  std::uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(begin, begin + epoch_digits, epoch);
  if (error != std::errc{} || end != begin + epoch_digits) return std::nullopt;
  return Epoch{epoch};
}

bool is_unfinished(std::string_view name) {
  const auto is_ours = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return name.ends_with(unfinished_suffix) && (is_ours(version_prefix) || is_ours(changes_prefix) ||
                                               is_ours(SeatingStore::prefix) || is_ours(highest_prefix));
}

// The highest epoch that a generation can have; its mark, so that none is given twice whatever is taken away.
Epoch last_epoch(Epoch generation) { return Epoch{to_index(generation) + changes_max}; }

struct Generation {
  bool readable = false;           // its version file
  std::set<std::string> seatings;  // hashes of those that its versions refer to
  bool has_changes = false;        // the file is there
  std::vector<Epoch> changes;
  std::size_t end = 0;  // of the records in it
  std::size_t deals = 0;
  bool cut_off = false;
  std::optional<Error> damage;  // of the change file

  // What it refers to, and how far its epochs go.
  [[nodiscard]] bool is_known() const { return readable && !cut_off && !damage; }
  [[nodiscard]] bool is_full() const {
    return changes.size() >= changes_max || deals >= deals_max || end > change_file_bytes / 4 * 3;
  }
};

// Where a version stands: in a generation, after so many of its changes.
struct Place {
  Epoch generation{};
  std::size_t changes = 0;
};

// Where a record is, and what takes its place where the change is refused: made before, as memory may be what it is
// refused for.
struct Extent {
  std::string file;
  std::size_t offset = 0;
  std::string zeroes;
};

}  // namespace

struct Journal::Impl {
  std::unique_ptr<Disk> disk;
  std::map<Epoch, Generation> generations;
  SeatingStore seatings;
  std::set<Epoch> marks;  // of the highest epoch: one, but for a crash at the wrong moment
  Epoch highest{};
  std::vector<std::string> notes;
  // Of a change that is begun, or was refused: bytes that may be those of its record.
  std::optional<Extent> unwiped;

  // The newest version, which the next change is told against.
  struct Newest {
    using Seated =
        std::map<std::string, std::pair<std::shared_ptr<const Seating>, std::string>>;  // with hash
    Epoch epoch{};
    Site site;
    Seated seatings;
    [[nodiscard]] SeatingHashes hashes() const {
      SeatingHashes out;
      for (const auto& [pool, seated] : seatings) out.emplace(pool, seated.second);
      return out;
    }
  };
  std::optional<Newest> newest;

  // A version that is begun to be stored.
  struct Begun {
    Newest version;
    bool as_change = false;  // its record is on its way to the disk; else it is stored as a whole
    bool dealt = false;
  };
  std::optional<Begun> begun;

  // --- What is there ---

  Result<void> scan() {
    auto listed = disk->list();
    if (!listed) return tl::unexpected(std::move(listed.error()));
    const std::set<std::string> names(listed->begin(), listed->end());
    for (const std::string& name : names) {
      if (is_unfinished(name)) {
        if (auto removed = disk->remove(name); !removed) return removed;
      } else if (auto mark = epoch_in(name, highest_prefix, "")) {
        marks.insert(*mark);
      } else if (auto epoch = epoch_in(name, version_prefix, version_suffix)) {
        scan_generation(*epoch, names.contains(changes_name(*epoch)));
      }
    }
    seatings.found(names);
    highest = highest_found();
    note_what_is_missing();
    clean();
    return {};
  }

  void scan_generation(Epoch epoch, bool has_changes) {
    Generation& generation = generations[epoch];
    const std::string name = version_name(epoch);
    if (auto bytes = disk->read(name)) {
      if (auto hashes = seatings_in(*bytes, name)) {
        generation.readable = true;
        for (auto& [pool, hash] : *hashes) generation.seatings.insert(std::move(hash));
      }
    }
    generation.has_changes = has_changes;
    if (has_changes) generation.damage = scan_changes(epoch, generation);
  }

  std::optional<Error> scan_changes(Epoch epoch, Generation& generation) {
    const std::string where = disk->place(changes_name(epoch));
    const auto bytes = disk->read(changes_name(epoch));
    if (!bytes) return bytes.error();
    const ChangeFile file = read_changes(*bytes);
    for (const std::string_view text : file.records) {
      auto lines = record_lines(text, where);
      if (!lines) return std::move(lines.error());
      const Epoch before = generation.changes.empty() ? epoch : generation.changes.back();
      if (lines->epoch <= before)
        return Error{ErrorKind::internal,
                     fmt::format("epoch {} follows epoch {}", to_index(lines->epoch), to_index(before)),
                     where, ""};
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

  // Where the newest generation tells of every epoch it is exact; else its mark counts, which is above all of them.
  Epoch highest_found() const {
    const Epoch mark = marks.empty() ? Epoch{} : *marks.rbegin();
    if (generations.empty()) return mark;
    const auto& [epoch, generation] = *generations.rbegin();
    const Epoch version = generation.changes.empty() ? epoch : generation.changes.back();
    const bool exact = generation.has_changes && generation.is_known() && mark == last_epoch(epoch);
    return exact ? version : std::max(version, mark);
  }

  void note_what_is_missing() {
    if (generations.empty()) return;
    const auto& [epoch, generation] = *generations.rbegin();
    const std::string file = disk->place(changes_name(epoch));
    const Epoch version = generation.changes.empty() ? epoch : generation.changes.back();
    if (generation.cut_off && !generation.damage)
      notes.push_back(fmt::format(
          "{}: what follows epoch {} is no whole change: one that was not made durable, or that is "
          "damaged; going on with epoch {}",
          file, to_index(version), to_index(version)));
    if (!generation.has_changes && !marks.empty() && *marks.rbegin() == last_epoch(epoch))
      notes.push_back(
          fmt::format("{} is not there: if it held changes, they are lost; going on with epoch {}", file,
                      to_index(epoch)));
  }

  // Every version that can be read, by its epoch.
  std::map<Epoch, Place> versions() const {
    std::map<Epoch, Place> out;
    for (const auto& [epoch, generation] : generations) {
      out[epoch] = {epoch, 0};
      for (std::size_t i = 0; i < generation.changes.size(); ++i) out[generation.changes[i]] = {epoch, i + 1};
    }
    return out;
  }

  // --- Reading ---

  Result<SiteVersion> read(const Place& place, SeatingHashes& hashes) {
    const std::string name = version_name(place.generation);
    auto bytes = disk->read(name);
    if (!bytes) return tl::unexpected(std::move(bytes.error()));
    auto file = parse_version(*bytes, disk->place(name));
    if (!file) return tl::unexpected(std::move(file.error()));
    if (file->epoch != place.generation)
      return fail(ErrorKind::internal, fmt::format("the file holds epoch {}", to_index(file->epoch)),
                  disk->place(name));
    SiteVersion out{file->epoch, std::move(file->site), {}};
    hashes = std::move(file->seatings);
    if (place.changes > 0)
      if (auto changed = carry_over(place, out, hashes); !changed)
        return tl::unexpected(std::move(changed.error()));
    for (const Pool& pool : out.site.pools) {
      auto seating = seatings.load(*disk, hashes[pool.name]);
      if (!seating) return tl::unexpected(std::move(seating.error()));
      if (!fits(**seating, out.site, pool))
        return fail(ErrorKind::internal,
                    fmt::format("the seating of pool \"{}\" is not of its backends", pool.name),
                    disk->place(name));
      out.seatings.emplace(pool.name, std::move(*seating));
    }
    return out;
  }

  // The first changes of a generation, on its version.
  Result<void> carry_over(const Place& place, SiteVersion& version, SeatingHashes& hashes) {
    const std::string name = changes_name(place.generation), where = disk->place(name);
    const auto bytes = disk->read(name);
    if (!bytes) return tl::unexpected(bytes.error());
    const ChangeFile file = read_changes(*bytes);
    if (file.records.size() < place.changes)
      return fail(ErrorKind::internal, "changes that were there have gone", where);
    for (std::size_t i = 0; i < place.changes; ++i) {
      auto record = parse_record(file.records[i], where);
      if (!record) return tl::unexpected(std::move(record.error()));
      version.epoch = record->epoch;
      version.site = with(std::move(version.site), record->delta);
      for (const std::string& pool : record->delta.pools_gone) hashes.erase(pool);
      for (auto& [pool, hash] : record->seatings) hashes.insert_or_assign(pool, std::move(hash));
    }
    if (auto checked = check_site(version.site); !checked) {
      checked.error().where = where;
      return checked;
    }
    return {};
  }

  Result<std::optional<SiteVersion>> load() {
    if (generations.empty()) return std::nullopt;
    const auto& [epoch, generation] = *generations.rbegin();
    if (generation.damage) return tl::unexpected(with_advice(*generation.damage, {epoch, 1}));
    const Place place{epoch, generation.changes.size()};
    SeatingHashes hashes;
    auto version = read(place, hashes);
    if (!version) return tl::unexpected(with_advice(std::move(version.error()), place));
    Newest found{version->epoch, version->site, {}};
    for (const auto& [pool, seating] : version->seatings)
      found.seatings.emplace(pool, std::pair{seating, hashes.at(pool)});
    newest = std::move(found);
    return std::move(*version);
  }

  Result<std::optional<SiteVersion>> load_previous() {
    const auto all = versions();
    if (all.size() < 2) return std::nullopt;
    const Place place = std::next(all.rbegin())->second;
    SeatingHashes hashes;
    auto version = read(place, hashes);
    if (!version) return tl::unexpected(with_advice(std::move(version.error()), place));
    return std::move(*version);
  }

  // What to do about a version that cannot be read.
  Error with_advice(Error error, const Place& place) const {
    if (place.changes > 0) {
      error.what = fmt::format("the changes since epoch {} of the site cannot be used: {}",
                               to_index(place.generation), error.what);
      error.next = fmt::format("restore it from a backup, or move {} away to go on with epoch {}",
                               disk->place(changes_name(place.generation)), to_index(place.generation));
      return error;
    }
    const std::string file = disk->place(version_name(place.generation));
    const auto found = generations.find(place.generation);
    error.what =
        fmt::format("epoch {} of the site cannot be used: {}", to_index(place.generation), error.what);
    error.next = fmt::format("restore it from a backup, or move {} away {}", file,
                             found == generations.begin()
                                 ? "and start with --site FILE"
                                 : fmt::format("to go on with epoch {}", newest_before(found)));
    return error;
  }

  std::uint64_t newest_before(std::map<Epoch, Generation>::const_iterator at) const {
    const auto& [epoch, generation] = *std::prev(at);
    return to_index(generation.changes.empty() ? epoch : generation.changes.back());
  }

  // --- Writing ---

  Result<void> begin(const SiteVersion& version) {
    if (version.epoch <= highest)
      return fail(ErrorKind::internal,
                  fmt::format("epoch {} is not above {}, the highest of the journal", to_index(version.epoch),
                              to_index(highest)),
                  disk->place(""), "restart guidewayd");
    if (auto wiped = wipe(); !wiped) return wiped;
    auto fresh = put_seatings(version);
    if (!fresh) return tl::unexpected(std::move(fresh.error()));
    bool as_change = false;
    if (auto delta = change_of(version)) {
      SeatingHashes hashes;
      for (const auto& [pool, seated] : *fresh) hashes.emplace(pool, seated.second);
      const std::string record = framed_record(record_text({version.epoch, std::move(hashes), *delta}));
      if (generations.rbegin()->second.end + record.size() <= change_file_bytes) {
        if (auto put = begin_record(version.epoch, record, *fresh); !put) return put;
        as_change = true;
      }
    }
    const bool dealt = !fresh->empty();
    Newest next{version.epoch, version.site, std::move(*fresh)};
    if (newest)
      for (const auto& [pool, seating] : version.seatings)
        if (!next.seatings.contains(pool)) next.seatings.emplace(pool, newest->seatings.at(pool));
    begun = Begun{std::move(next), as_change, dealt};
    return {};
  }

  Result<void> finish() {
    Begun done = std::move(*begun);
    begun.reset();
    if (!done.as_change) return begin_generation(std::move(done.version));
    if (auto durable = disk->finish_overwrite(); !durable) return durable;
    // All memory that this takes is there: nothing can fail once it is on disk.
    auto& generation = generations.rbegin()->second;
    generation.changes.push_back(done.version.epoch);
    generation.end += unwiped->zeroes.size();
    generation.deals += done.dealt ? 1U : 0U;
    unwiped.reset();
    newest = std::move(done.version);
    return {};
  }

  // What was begun, or could not be finished, must not be there after a restart.
  void take_back() noexcept {
    begun.reset();
    try {
      (void)wipe();
    } catch (const std::exception&) {  // again with the next version
    }
  }

  // Of the pools that have others than in the newest version, each of them on disk.
  Result<Newest::Seated> put_seatings(const SiteVersion& version) {
    Newest::Seated out;
    bool written = false;
    for (const auto& [pool, seating] : version.seatings) {
      if (newest)
        if (auto old = newest->seatings.find(pool);
            old != newest->seatings.end() && old->second.first == seating && seatings.has(old->second.second))
          continue;
      auto hash = seatings.put(*disk, seating, written);
      if (!hash) return tl::unexpected(std::move(hash.error()));
      out.emplace(pool, std::pair{seating, std::move(*hash)});
    }
    if (written)
      if (auto synced = disk->sync_names(); !synced) return tl::unexpected(std::move(synced.error()));
    return out;
  }

  // The version as a change of the newest one, where it may be one of the newest generation.
  std::optional<SiteDelta> change_of(const SiteVersion& version) {
    if (!newest || generations.empty()) return std::nullopt;
    const auto& [epoch, generation] = *generations.rbegin();
    if (!generation.has_changes || !generation.is_known() || generation.changes.size() >= changes_max ||
        generation.deals >= deals_max || version.epoch > last_epoch(epoch))
      return std::nullopt;
    // Who takes one of the two away takes the change with it.
    if (!disk->holds(version_name(epoch)) || !disk->holds(changes_name(epoch))) return std::nullopt;
    return delta_of(newest->site, version.site);
  }

  Result<void> begin_record(Epoch version, const std::string& record, const Newest::Seated& fresh) {
    auto& [epoch, generation] = *generations.rbegin();
    generation.changes.reserve(generation.changes.size() + 1);
    for (const auto& [pool, seated] : fresh) generation.seatings.insert(seated.second);
    unwiped = Extent{changes_name(epoch), generation.end, std::string(record.size(), '\0')};
    highest = version;
    return disk->begin_overwrite(unwiped->file, unwiped->offset, record);
  }

  // A change that was refused must not be there after a restart either.
  Result<void> wipe() {
    if (!unwiped) return {};
    if (disk->holds(unwiped->file))
      if (auto wiped = disk->overwrite(unwiped->file, unwiped->offset, unwiped->zeroes); !wiped) return wiped;
    unwiped.reset();
    return {};
  }

  // A version as a whole. Its epoch may be that of the newest one, which is then written anew.
  Result<void> begin_generation(Newest version) {
    const Epoch epoch = version.epoch;
    const SeatingHashes hashes = version.hashes();
    Generation fresh;
    fresh.readable = fresh.has_changes = true;
    for (const auto& [pool, hash] : hashes) fresh.seatings.insert(hash);
    if (auto marked = mark_highest(last_epoch(epoch)); !marked) return marked;
    highest = std::max(highest, epoch);
    const auto [at, is_new] = generations.try_emplace(epoch);
    struct UnlessDone {
      Impl& journal;
      std::map<Epoch, Generation>::iterator at;
      bool is_new;
      ~UnlessDone() {
        if (is_new) journal.generations.erase(at);
      }
    } unless_done{*this, at, is_new};
    auto done = put_file(*disk, changes_name(epoch), empty_change_file());
    if (done) done = put_file(*disk, version_name(epoch), version_bytes({epoch, hashes, version.site}));
    if (done) done = disk->sync_names();
    if (!done) {
      if (is_new) {
        // The change is refused, so it must not be there after a restart either.
        (void)disk->remove(version_name(epoch));
        (void)disk->remove(changes_name(epoch));
      }
      return done;
    }
    unless_done.is_new = false;
    std::swap(at->second, fresh);
    newest = std::move(version);
    try {
      clean();
    } catch (const std::exception&) {  // it saves space, and the next generation makes up for it
    }
    return {};
  }

  // Before the version itself, and made durable with its name.
  Result<void> mark_highest(Epoch epoch) {
    const std::string name = highest_name(epoch);
    const auto old = marks.empty() ? std::nullopt : std::optional(*marks.rbegin());
    if (old && *old >= epoch && disk->holds(highest_name(*old))) return {};
    marks.insert(epoch);
    auto done = old ? disk->rename(highest_name(*old), name) : put_file(*disk, name, {});
    if (!done && old) done = put_file(*disk, name, {});  // somebody took it away
    if (!done) {
      marks.erase(epoch);
    } else if (old && *old != epoch) {
      marks.erase(*old);
    }
    return done;
  }

  // --- Keeping order ---

  Result<void> tidy() {
    if (!newest || generations.empty()) return {};
    auto listed = disk->list();
    if (!listed) return tl::unexpected(std::move(listed.error()));
    const std::set<std::string> names(listed->begin(), listed->end());
    seatings.found(names);
    bool written = false;
    for (const auto& [pool, seated] : newest->seatings)
      if (!seatings.has(seated.second))
        if (auto put = seatings.put(*disk, seated.first, written); !put)
          return tl::unexpected(std::move(put.error()));
    if (written)
      if (auto synced = disk->sync_names(); !synced) return synced;
    const auto& [epoch, generation] = *generations.rbegin();
    const bool is_whole = names.contains(version_name(epoch)) && names.contains(changes_name(epoch)) &&
                          !marks.empty() && names.contains(highest_name(*marks.rbegin()));
    if (is_whole && generation.has_changes && generation.is_known() && !generation.is_full()) return {};
    return begin_generation(*newest);
  }

  // Keeps the newest versions and what they refer to. What fails here is tried again with the next generation.
  void clean() {
    for (auto oldest = generations.begin(); generations.size() > 1; oldest = generations.begin()) {
      std::size_t others = 0;
      for (const auto& [epoch, place] : versions()) others += place.generation != oldest->first ? 1U : 0U;
      if (others < versions_kept) break;
      if (!disk->remove(version_name(oldest->first)) || !disk->remove(changes_name(oldest->first))) return;
      generations.erase(oldest);
    }
    while (marks.size() > 1 && disk->remove(highest_name(*marks.begin()))) marks.erase(marks.begin());
    std::set<std::string> used;
    for (const auto& [epoch, generation] : generations) {
      if (!generation.is_known()) return;
      used.insert(generation.seatings.begin(), generation.seatings.end());
    }
    seatings.remove_others(*disk, used);
  }
};

// Takes back what was begun, on a refusal as on an exception.
class Journal::Pending {
 public:
  explicit Pending(Impl& journal) : journal_(&journal) {}
  ~Pending() {
    if (journal_ != nullptr) journal_->take_back();
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  void keep() { journal_ = nullptr; }

 private:
  Impl* journal_;
};

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::filesystem::path& state_dir) {
  auto disk = open_directory(state_dir);
  if (!disk) return tl::unexpected(std::move(disk.error()));
  return open(std::move(*disk));
}

Result<Journal> Journal::open(std::unique_ptr<Disk> disk) {
  auto impl = std::make_unique<Impl>();
  impl->disk = std::move(disk);
  if (auto scanned = impl->scan(); !scanned) return tl::unexpected(std::move(scanned.error()));
  return Journal(std::move(impl));
}

Result<std::optional<SiteVersion>> Journal::load() const { return impl_->load(); }
Result<std::optional<SiteVersion>> Journal::load_previous() const { return impl_->load_previous(); }
Epoch Journal::highest() const { return impl_->highest; }
const std::vector<std::string>& Journal::notes() const { return impl_->notes; }
Result<void> Journal::begin(const SiteVersion& version) {
  Pending unless_begun(*impl_);
  auto begun = impl_->begin(version);
  if (begun) unless_begun.keep();
  return begun;
}
Result<void> Journal::finish() {
  Pending unless_done(*impl_);
  auto done = impl_->finish();
  if (done) unless_done.keep();
  return done;
}
void Journal::take_back() noexcept { impl_->take_back(); }
Result<void> Journal::store(const SiteVersion& version) {
  if (auto begun = begin(version); !begun) return begun;
  return finish();
}
Result<void> Journal::tidy() { return impl_->tidy(); }

}  // namespace guideway
