// Duration: spans of time as documents and commands write them: "500ms", "2s", "15m", "1h".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace guideway {

// A whole number and a unit (ms, s, m, h); nullopt for anything else and beyond 1,000 days.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
// The largest unit that says it exactly; parses back to the same span.
[[nodiscard]] std::string print_duration(std::chrono::milliseconds span);
// For a person who wants to know how long something has been so, in at most two units: "45s", "2m 58s", "3h 5m", "12d 4h".
[[nodiscard]] std::string rough_duration(std::chrono::milliseconds span);

}  // namespace guideway
