// A change is one record in the newest generation's change file, durable after one flush. A version that is no small
// change, or finds the generation full, begins the next one: its files are written aside, made durable, and renamed, the
// version last, so that its name appears only after its change file and its seatings are there.
#include "state/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "state/change_file.h"
#include "state/change_record.h"
#include "state/generations.h"
#include "state/journal_files.h"
#include "state/seating_store.h"
#include "state/seatings.h"
#include "state/version_file.h"

namespace guideway {
namespace {

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
  Generations generations;
  SeatingStore seatings;
  EpochMark mark;
  Epoch highest{};
  std::vector<std::string> notes;
  // Of a version that is begun, or was refused: bytes that may be those of its record, or its own files.
  std::optional<Extent> unwiped;
  std::optional<Epoch> unremoved;

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
      } else if (const auto epoch = version_in(name)) {
        generations.emplace(*epoch, scan_generation(*disk, *epoch, names.contains(changes_name(*epoch))));
      }
    }
    mark.found(names);
    seatings.found(names);
    highest = highest_found();
    note_what_is_missing();
    clean();
    // Names that were not durable when the process before was killed. Where it fails, the next change tries again.
    (void)disk->sync_names();
    return {};
  }

  // Where the newest generation tells of every epoch it is exact; else its mark counts, which is above all of them.
  Epoch highest_found() const {
    if (generations.empty()) return mark.highest();
    const auto& [epoch, generation] = *generations.rbegin();
    const Epoch version = newest_epoch(*generations.rbegin());
    const bool exact = generation.has_changes && generation.is_known() && mark.highest() == last_epoch(epoch);
    return exact ? version : std::max(version, mark.highest());
  }

  void note_what_is_missing() {
    if (generations.empty()) return;
    const auto& [epoch, generation] = *generations.rbegin();
    const std::string file = disk->place(changes_name(epoch));
    const Epoch version = newest_epoch(*generations.rbegin());
    if (generation.cut_off && !generation.damage)
      notes.push_back(fmt::format(
          "{}: what follows epoch {} is no whole change: one that was not made durable, or that is "
          "damaged; going on with epoch {}",
          file, to_index(version), to_index(version)));
    if (!generation.has_changes && mark.highest() == last_epoch(epoch))
      notes.push_back(
          fmt::format("{} is not there: if it held changes, they are lost; going on with epoch {}", file,
                      to_index(epoch)));
  }

  // --- Reading ---

  Result<std::optional<SiteVersion>> load() {
    if (generations.empty()) return std::nullopt;
    const auto& [epoch, generation] = *generations.rbegin();
    if (generation.damage)
      return tl::unexpected(with_advice(*generation.damage, *disk, generations, {epoch, 1}));
    auto stored = read_version(*disk, seatings, generations, {epoch, generation.changes.size()});
    if (!stored) return tl::unexpected(std::move(stored.error()));
    Newest found{stored->version.epoch, stored->version.site, {}};
    for (const auto& [pool, seating] : stored->version.seatings)
      found.seatings.emplace(pool, std::pair{seating, stored->hashes.at(pool)});
    newest = std::move(found);
    return std::move(stored->version);
  }

  Result<std::optional<SiteVersion>> load_previous() {
    const auto all = versions_of(generations);
    if (all.size() < 2) return std::nullopt;
    auto stored = read_version(*disk, seatings, generations, std::next(all.rbegin())->second);
    if (!stored) return tl::unexpected(std::move(stored.error()));
    return std::move(stored->version);
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
    // Whatever follows counts on every name that is there, and on those that have gone.
    if (auto synced = disk->sync_names(); !synced) return synced;
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

  [[nodiscard]] bool is_wiped() const { return !unwiped && !unremoved; }

  // Of the pools that have others than in the newest version, each of them on disk; names are not durable yet.
  Result<Newest::Seated> put_seatings(const SiteVersion& version) {
    Newest::Seated out;
    for (const auto& [pool, seating] : version.seatings) {
      if (newest)
        if (auto old = newest->seatings.find(pool);
            old != newest->seatings.end() && old->second.first == seating && seatings.has(old->second.second))
          continue;
      auto hash = seatings.put(*disk, seating);
      if (!hash) return tl::unexpected(std::move(hash.error()));
      out.emplace(pool, std::pair{seating, std::move(*hash)});
    }
    return out;
  }

  // The version as a change of the newest one, where it may be one of the newest generation.
  std::optional<SiteDelta> change_of(const SiteVersion& version) {
    if (!newest || generations.empty()) return std::nullopt;
    const auto& [epoch, generation] = *generations.rbegin();
    if (!generation.takes_changes() || version.epoch > last_epoch(epoch)) return std::nullopt;
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

  // A version that was refused must not be there after a restart either.
  Result<void> wipe() {
    if (unwiped && disk->holds(unwiped->file))
      if (auto wiped = disk->overwrite(unwiped->file, unwiped->offset, unwiped->zeroes); !wiped) return wiped;
    unwiped.reset();
    if (!unremoved) return {};
    for (const std::string& name : {version_name(*unremoved), changes_name(*unremoved)})
      if (auto removed = disk->remove(name); !removed) return removed;
    if (auto synced = disk->sync_names(); !synced) return synced;
    unremoved.reset();
    return {};
  }

  // A version as a whole. Its epoch may be that of the newest one, which is then written anew.
  Result<void> begin_generation(Newest version) {
    const Epoch epoch = version.epoch;
    const SeatingHashes hashes = version.hashes();
    Generation fresh;
    fresh.readable = fresh.has_changes = true;
    for (const auto& [pool, hash] : hashes) fresh.seatings.insert(hash);
    if (auto marked = mark.raise(*disk, last_epoch(epoch)); !marked) return marked;
    highest = std::max(highest, epoch);
    const auto [at, is_new] = generations.try_emplace(epoch);
    struct UnlessDone {
      Impl& journal;
      Generations::iterator at;
      bool is_new;
      ~UnlessDone() {
        if (is_new) journal.generations.erase(at);
      }
    } unless_done{*this, at, is_new};
    if (is_new) unremoved = epoch;
    auto done = put_file(*disk, changes_name(epoch), empty_change_file());
    if (done) done = put_file(*disk, version_name(epoch), version_bytes({epoch, hashes, version.site}));
    if (done) done = disk->sync_names();
    if (!done) return done;
    unremoved.reset();
    unless_done.is_new = false;
    std::swap(at->second, fresh);
    newest = std::move(version);
    try {
      clean();
    } catch (const std::exception&) {  // it saves space, and the next generation makes up for it
    }
    return {};
  }

  // --- Keeping order ---

  Result<void> tidy() {
    if (!newest || generations.empty()) return {};
    auto listed = disk->list();
    if (!listed) return tl::unexpected(std::move(listed.error()));
    const std::set<std::string> names(listed->begin(), listed->end());
    seatings.found(names);
    for (const auto& [pool, seated] : newest->seatings)
      if (!seatings.has(seated.second))
        if (auto put = seatings.put(*disk, seated.first); !put) return tl::unexpected(std::move(put.error()));
    if (auto synced = disk->sync_names(); !synced) return synced;
    const auto& [epoch, generation] = *generations.rbegin();
    const bool is_whole =
        names.contains(version_name(epoch)) && names.contains(changes_name(epoch)) && mark.is_among(names);
    if (is_whole && generation.has_changes && generation.is_known() && !generation.is_nearly_full())
      return {};
    auto done = begin_generation(*newest);
    if (!done) take_back();
    // What was cleaned away, too, so that no change waits for it.
    return done ? disk->sync_names() : done;
  }

  // Keeps the newest versions and what they refer to. What fails here is tried again with the next generation.
  void clean() {
    for (auto oldest = generations.begin(); generations.size() > 1; oldest = generations.begin()) {
      std::size_t others = 0;
      for (const auto& [epoch, place] : versions_of(generations))
        others += place.generation != oldest->first ? 1U : 0U;
      if (others < versions_kept) break;
      if (!disk->remove(version_name(oldest->first)) || !disk->remove(changes_name(oldest->first))) return;
      generations.erase(oldest);
    }
    mark.remove_lower(*disk);
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
  // Kept, or refused: then whoever asked is told where a refusal cannot be relied on.
  Result<void> end(Result<void> done) {
    Impl& journal = *std::exchange(journal_, nullptr);
    if (done) return done;
    journal.take_back();
    if (!journal.is_wiped())
      done.error().what +=
          "; what was written of it could not be wiped, so a restart may bring it into force";
    return done;
  }

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
  Pending pending(*impl_);
  return pending.end(impl_->begin(version));
}
Result<void> Journal::finish() {
  Pending pending(*impl_);
  return pending.end(impl_->finish());
}
void Journal::take_back() noexcept { impl_->take_back(); }
Result<void> Journal::store(const SiteVersion& version) {
  if (auto begun = begin(version); !begun) return begun;
  return finish();
}
Result<void> Journal::tidy() { return impl_->tidy(); }

}  // namespace guideway
