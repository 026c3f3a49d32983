// Change file: the changes since a version file, one record after the other in a file that has its full size from the
//       beginning.
// What: a record is a line with its length and checksum, its text, and zeroes up to the next block.
// Why:  a write within a file whose blocks are written already is durable after one flush of the disk, where a file of
//       its own takes two or three. (Zeroes that are written, not posix_fallocate: blocks that are only set aside become
//       written ones by a change of the file's metadata, which is flushed as well: 331 us against 363 here.)
//       A record begins with a block, so that one that is written half takes nothing from the one before.
// Not:  what a record says (change_record.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace guideway {

inline constexpr std::size_t change_block_bytes = 4096;
inline constexpr std::size_t change_file_bytes = 512 << 10;

[[nodiscard]] std::string empty_change_file();
// With its line and its zeroes.
[[nodiscard]] std::string framed_record(std::string_view text);

// What stands in a change file.
struct ChangeFile {
  std::vector<std::string_view> records;  // texts, within the bytes that were read
  std::size_t end = 0;                    // where the next one goes
  // Something follows that is no whole record, and no record follows that: a write that was cut off.
  bool cut_off = false;
  // A record follows that, so it was whole once; or the file has not its size.
  std::optional<std::size_t> damaged_at;
};
[[nodiscard]] ChangeFile read_changes(std::string_view bytes);

}  // namespace guideway
