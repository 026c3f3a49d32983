// Change record: one change of the site as the journal keeps it.
// What: comment lines (epoch, the seatings that are new, the names of what is gone) and the pools and services that
//       are not as in the version before, as TOML.
// Not:  where it stands on the disk, and its checksum (change_file.h).
#pragma once

#include <string>
#include <string_view>

#include "guideway/result.h"
#include "state/sealed_text.h"
#include "state/site_delta.h"

namespace guideway {

struct ChangeRecord {
  Epoch epoch{};
  SeatingHashes seatings;  // of the pools that have others than before
  SiteDelta delta;
};

[[nodiscard]] std::string record_text(const ChangeRecord& record);
// `name` stands in the messages.
[[nodiscard]] Result<ChangeRecord> parse_record(std::string_view text, const std::string& name);
// Without the site.
[[nodiscard]] Result<VersionLines> record_lines(std::string_view text, const std::string& name);

}  // namespace guideway
