// Journal: the site's versions on disk.
// What: an append-safe store in state_dir: each version (site, epoch, seatings) written to a temporary file,
// fsynced
//       and renamed; the newest good one is read at start, the one before serves `undo`.
// Why:  kill -9 or a power cut at any moment leaves the old version or the new one, never half of one.
//       An epoch is never given twice, as directors and clients compare by it: the highest one stands beside the versions
//       (in a file's name), whatever somebody takes away of them by hand.
// Cost: a drain writes one small file; a seating is written once and shared by the versions that have it.
// Errors: a directory that another daemon holds (lock file), a damaged file (named, with what to do).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

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
  // Of every version that was ever begun to be stored here; 0: none. The next one is above it.
  [[nodiscard]] Epoch highest() const;
  // Its epoch is above highest(). Durable when it returns; on an error the stored version is the old one.
  [[nodiscard]] Result<void> store(const SiteVersion& version);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
