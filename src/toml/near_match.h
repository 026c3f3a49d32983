// Near match: what a person probably meant when a name is not known.
// What: the known name with the smallest edit distance, where it is small against the word's length.
// Not:  a guess that is acted on; it only ends up in a message's advice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace guideway {

[[nodiscard]] std::optional<std::string> near_match(std::string_view word,
                                                    std::span<const std::string> known);

// The first few names for a message: "web-1, web-2, web-3 and 465 more"; "none" when there are none.
[[nodiscard]] std::string some_of(std::span<const std::string> names);

// Advice for an unknown name: `did you mean "web-1"?` or else `it has web-1, web-2` with `subject` "it".
[[nodiscard]] std::string advice_for(std::string_view word, std::span<const std::string> known,
                                     std::string_view subject);

}  // namespace guideway
