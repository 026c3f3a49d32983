// Generations: the versions that a journal's directory holds. A generation is a whole version and the changes since then.
// What: what is known of each without its sites, and reading one version as a whole.
// Errors: a version that cannot be read; the advice says what to move away, and what is gone on with then.
// Thread: control.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "state/disk.h"
#include "state/sealed_text.h"
#include "state/seating_store.h"
#include "state/seatings.h"
#include "state/site_version.h"

namespace guideway {

struct Generation {
  // Each deal has a seating of its own, up to 20 MB of them, kept as long as the generation.
  static constexpr std::size_t changes_max = 64, deals_max = 16;

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
  [[nodiscard]] bool takes_changes() const {
    return has_changes && is_known() && changes.size() < changes_max && deals < deals_max;
  }
  // Whether it is time for the next one: before a change has to wait for it.
  [[nodiscard]] bool is_nearly_full() const;
};

using Generations = std::map<Epoch, Generation>;  // by the epoch of the whole version

// The highest epoch that a generation can have.
[[nodiscard]] Epoch last_epoch(Epoch generation);
// The one that it has.
[[nodiscard]] Epoch newest_epoch(const Generations::value_type& generation);

// Where a version stands: in a generation, after so many of its changes.
struct VersionPlace {
  Epoch generation{};
  std::size_t changes = 0;
};
// Every version that can be read, by its epoch.
[[nodiscard]] std::map<Epoch, VersionPlace> versions_of(const Generations& generations);

// Whatever its files are like.
[[nodiscard]] Generation scan_generation(Disk& disk, Epoch epoch, bool has_changes);

struct StoredVersion {
  SiteVersion version;
  SeatingHashes hashes;  // of its seatings
};
[[nodiscard]] Result<StoredVersion> read_version(Disk& disk, SeatingStore& seatings,
                                                 const Generations& generations, const VersionPlace& place);
// What to do about a version that cannot be read.
[[nodiscard]] Error with_advice(Error error, const Disk& disk, const Generations& generations,
                                const VersionPlace& place);

}  // namespace guideway
