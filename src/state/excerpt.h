// Excerpt: what is quoted back from a hostile document or command line.
#pragma once

#include <string>
#include <string_view>

namespace guideway {

// Short, on one line, and nothing that a terminal obeys.
[[nodiscard]] inline std::string excerpt(std::string_view text) {
  constexpr std::size_t shown_max = 80;
  std::string out;
  for (const char c : text.substr(0, shown_max))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > shown_max ? out + "…" : out;
}

}  // namespace guideway
