// Key depth: what a TOML document is looked over for before it is parsed.
// Why:  the parser bounds how deep values lie in each other, but not how many parts a dotted key has; each part is a table
//       that is built, and taken down, inside the one before, so that some ten thousands of them end the stack.
// Thread: any.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace guideway {

// The line of the first key with more than 64 parts; a document whose keys mean anything has none.
[[nodiscard]] std::optional<std::size_t> line_of_deep_key(std::string_view toml);

}  // namespace guideway
