// Parser: words into one command of the table.
// What: finds object and verb, gives each word its parameter, checks each value's form.
// Why:  own code instead of a library's, since client, server and `plan COMMAND…` read the same words from
//       the same table, and each refusal is a sentence with the nearest word that exists.
// Not:  the program's own options (--json, --socket, …); the client takes those out first.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/arguments.h"
#include "command/table.h"
#include "guideway/result.h"

namespace guideway {

inline constexpr std::size_t words_max = 64;  // of one command
inline constexpr std::size_t word_bytes_max = 4096;

// Any thread. A command behind `plan` comes back as itself with dry_run set.
[[nodiscard]] Result<Arguments> parse_command(std::span<const std::string> words);
// A command in one string, as the API takes it: words apart by blanks, "…" or '…' around words with blanks.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace guideway
