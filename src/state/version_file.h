// Version file: one version of the site as the journal keeps it.
// What: comment lines (epoch, the seating of each pool by its content's hash, the checksum of all that follows)
//       and the site as TOML: the file is itself a site.toml that `guideway apply` takes.
// Not:  the seatings (seating_file.h), the changes since (change_file.h).
#pragma once

#include <string>
#include <string_view>

#include "guideway/result.h"
#include "state/sealed_text.h"
#include "state/site.h"

namespace guideway {

struct VersionFile {
  Epoch epoch{};
  SeatingHashes seatings;
  Site site;
};

[[nodiscard]] std::string version_bytes(const VersionFile& version);
// `name` stands in the messages. Any byte that differs from what was written is refused.
[[nodiscard]] Result<VersionFile> parse_version(std::string_view bytes, const std::string& name);
// Only the hashes of the seatings, for the journal's cleaning; the checksum is verified all the same.
[[nodiscard]] Result<SeatingHashes> seatings_in(std::string_view bytes, const std::string& name);

}  // namespace guideway
