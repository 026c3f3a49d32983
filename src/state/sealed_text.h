// Sealed text: what the journal's files are made of: a title with the checksum of all that follows, comment lines with the
// epoch and the seatings, and a document.
// Not:  what the document is (version_file.h, change_record.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "snapshot/ids.h"

namespace guideway {

using SeatingHashes = std::map<std::string, std::string>;  // pool -> content hash of its seating

[[nodiscard]] std::string sealed(std::string_view title, std::string_view body);
// What follows the title; nullopt: another title, or any byte differs from what was sealed.
[[nodiscard]] std::optional<std::string_view> unsealed(std::string_view title, std::string_view text);
// The rest of a first line that begins with `prefix`, taken off the text with its end; nullopt: it begins otherwise.
[[nodiscard]] std::optional<std::string_view> take_line(std::string_view& text, std::string_view prefix);

[[nodiscard]] std::string version_lines(Epoch epoch, const SeatingHashes& seatings);
struct VersionLines {
  Epoch epoch{};
  SeatingHashes seatings;
};
[[nodiscard]] std::optional<VersionLines> take_version_lines(std::string_view& text);

}  // namespace guideway
