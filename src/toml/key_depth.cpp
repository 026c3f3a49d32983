#include "toml/key_depth.h"

#include <algorithm>

namespace guideway {
namespace {

// Where the string that begins at `at` ends, behind its closing quotes.
std::size_t string_end(std::string_view toml, std::size_t at) {
  const std::string_view three = toml.substr(at, 3);
  const bool multi_line = three == "\"\"\"" || three == "'''";
  const std::string_view quotes = multi_line ? three : toml.substr(at, 1);
  const bool escapes = quotes[0] == '"';
  for (std::size_t i = at + quotes.size(); i < toml.size(); ++i) {
    if (escapes && toml[i] == '\\') {
      ++i;
    } else if (toml.substr(i, quotes.size()) == quotes) {
      // Up to two more quotes belong to a multi-line string's text.
      const std::size_t end = std::min(toml.find_first_not_of(quotes[0], i), toml.size());
      return multi_line ? std::min(end, i + 5) : i + 1;
    } else if (!multi_line && toml[i] == '\n') {
      return i;  // not closed: the parser will say so
    }
  }
  return toml.size();
}

}  // namespace

std::optional<std::size_t> line_of_deep_key(std::string_view toml) {
  constexpr std::size_t parts_max = 64;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < toml.size();) {
    switch (toml[i]) {
      case '"':
      case '\'':
        i = string_end(toml, i);
        continue;
      case '#':
        i = std::min(toml.find('\n', i), toml.size());
        continue;
      case '\n':
      case '=':
      case ',':
        dots = 0;
        break;
      case '.':
        if (++dots == parts_max)
          return 1 + static_cast<std::size_t>(std::ranges::count(toml.substr(0, i), '\n'));
        break;
      default:
        break;
    }
    ++i;
  }
  return std::nullopt;
}

}  // namespace guideway
