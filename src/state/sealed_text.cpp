#include "state/sealed_text.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "state/seating_file.h"

namespace guideway {
namespace {

constexpr std::string_view epoch_line = "# epoch ";
constexpr std::string_view seating_line = "# seating ";
constexpr std::size_t hash_size = 32;

}  // namespace

std::optional<std::string_view> take_line(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view out = text.substr(prefix.size(), end - prefix.size());
  text.remove_prefix(end + 1);
  return out;
}

std::string sealed(std::string_view title, std::string_view body) {
  return fmt::format("{}{}\n{}", title, content_hash(body), body);
}

std::optional<std::string_view> unsealed(std::string_view title, std::string_view text) {
  const auto checksum = take_line(text, title);
  if (!checksum || *checksum != content_hash(text)) return std::nullopt;
  return text;
}

std::string version_lines(Epoch epoch, const SeatingHashes& seatings) {
  std::string out = fmt::format("{}{}\n", epoch_line, to_index(epoch));
  for (const auto& [pool, hash] : seatings)
    fmt::format_to(std::back_inserter(out), "{}{} {}\n", seating_line, hash, pool);
  return out;
}

std::optional<VersionLines> take_version_lines(std::string_view& text) {
  const auto epoch = take_line(text, epoch_line);
  if (!epoch) return std::nullopt;
  VersionLines out;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(epoch->data(), epoch->data() + epoch->size(), number);
  if (error != std::errc{} || end != epoch->data() + epoch->size()) return std::nullopt;
  out.epoch = Epoch{number};
  while (const auto line = take_line(text, seating_line)) {
    if (line->size() < hash_size + 2) return std::nullopt;
    out.seatings.emplace(line->substr(hash_size + 1), line->substr(0, hash_size));
  }
  return out;
}

}  // namespace guideway
