// Version file: one version of the site as the journal keeps it.
// What: comment lines (epoch, the seating of each pool by its content's hash, the checksum of all that follows)
//       and the site as TOML: the file is itself a site.toml that `guideway apply` takes.
// Not:  the seatings (seating_file.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "guideway/result.h"
#include "snapshot/ids.h"
#include "state/site.h"

namespace guideway {

struct VersionFile {
  Epoch epoch{};
  std::map<std::string, std::string> seatings;  // pool -> content hash
  Site site;
};

[[nodiscard]] std::string version_bytes(const VersionFile& version);
// `name` stands in the messages. Any byte that differs from what was written is refused.
[[nodiscard]] Result<VersionFile> parse_version(std::string_view bytes, const std::string& name);
// Only the hashes of the seatings, for the journal's cleaning; the checksum is verified all the same.
[[nodiscard]] Result<std::map<std::string, std::string>> seatings_in(std::string_view bytes,
                                                                     const std::string& name);

}  // namespace guideway
