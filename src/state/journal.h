// Journal: the site's versions on disk.
// What: whole versions (site, epoch, seatings), each with a file beside it that takes the changes since then, one record
//       after the other; the newest good one is read at start, the one before serves `undo`.
// Why:  kill -9 or a power cut at any moment leaves the old version or the new one, never half of one. Whoever waits for
//       a drain waits for one write into blocks that are there, whatever the size of the site.
//       An epoch is never given twice, as directors and clients compare by it: an upper bound of those that were given
//       stands beside the versions (in a file's name), whatever somebody takes away of them by hand.
// Cost: a drain writes its pool as text and waits for one flush of the disk; every 64th change, and one that is no change
//       of a few objects, writes the whole site, half a megabyte of zeroes for the changes to come, and waits for
//       five. A seating is written once and shared by the versions that have it.
// Errors: a directory that another daemon holds (lock file), a damaged file (named, with what to do). A record that
//       is no whole one and has none behind it is a write that was cut off: the version before it counts, with a note.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "state/disk.h"
#include "state/site_version.h"

namespace guideway {

class Journal {
 public:
  // Takes the directory's lock for the life of the object; creates the directory where it is missing.
  [[nodiscard]] static Result<Journal> open(const std::filesystem::path& state_dir);
  [[nodiscard]] static Result<Journal> open(std::unique_ptr<Disk> disk);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  static constexpr std::size_t versions_kept = 16;

  // The newest version; nullopt for a new journal.
  [[nodiscard]] Result<std::optional<SiteVersion>> load() const;
  // The version before the newest one (for undo).
  [[nodiscard]] Result<std::optional<SiteVersion>> load_previous() const;
  // Of every version that was ever begun to be stored here, or more where that cannot be told; 0: none. The next one is
  // above it.
  [[nodiscard]] Epoch highest() const;
  // Sentences about what was found when it was opened, for the log.
  [[nodiscard]] const std::vector<std::string>& notes() const;
  // Its epoch is above highest(). Durable when it returns; on an error the stored version is the old one.
  [[nodiscard]] Result<void> store(const SiteVersion& version);
  // The same in two steps, for whoever has something to do while the disk works: what was begun is finished, or taken back,
  // before anything else is asked for. A crash between the two may leave the old version or the new one. After an error
  // nothing is begun.
  [[nodiscard]] Result<void> begin(const SiteVersion& version);
  [[nodiscard]] Result<void> finish();
  void take_back() noexcept;
  // What can wait until a version is in force: writes it as a whole where the changes fill up, and again what somebody took
  // away. Whoever never calls it has store() do the former.
  [[nodiscard]] Result<void> tidy();

 private:
  struct Impl;
  class Pending;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
