#include "state/version_file.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <optional>

#include "state/seating_file.h"
#include "state/site_file.h"

namespace guideway {
namespace {

constexpr std::string_view title = "# guideway site, journal format 1, checksum ";
constexpr std::string_view epoch_line = "# epoch ";
constexpr std::string_view seating_line = "# seating ";
constexpr std::size_t hash_size = 32;

struct Header {
  Epoch epoch{};
  std::map<std::string, std::string> seatings;
  std::string_view site;  // what follows
};

std::optional<std::string_view> take_line(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view out = text.substr(prefix.size(), end - prefix.size());
  text.remove_prefix(end + 1);
  return out;
}

std::optional<Header> parse_header(std::string_view text) {
  const auto checksum = take_line(text, title);
  if (!checksum || *checksum != content_hash(text)) return std::nullopt;
  const auto epoch = take_line(text, epoch_line);
  if (!epoch) return std::nullopt;
  Header out;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(epoch->data(), epoch->data() + epoch->size(), number);
  if (error != std::errc{} || end != epoch->data() + epoch->size()) return std::nullopt;
  out.epoch = Epoch{number};
  while (const auto line = take_line(text, seating_line)) {
    if (line->size() < hash_size + 2) return std::nullopt;
    out.seatings.emplace(line->substr(hash_size + 1), line->substr(0, hash_size));
  }
  out.site = text;
  return out;
}

tl::unexpected<Error> damaged(const std::string& name) {
  return fail(ErrorKind::internal, "the version is damaged (its checksum does not fit)", name);
}

}  // namespace

std::string version_bytes(const VersionFile& version) {
  std::string body = fmt::format("{}{}\n", epoch_line, to_index(version.epoch));
  for (const auto& [pool, hash] : version.seatings)
    fmt::format_to(std::back_inserter(body), "{}{} {}\n", seating_line, hash, pool);
  body += print_site(version.site);
  return fmt::format("{}{}\n{}", title, content_hash(body), body);
}

Result<VersionFile> parse_version(std::string_view bytes, const std::string& name) {
  auto header = parse_header(bytes);
  if (!header) return damaged(name);
  auto site = parse_site(header->site, name);
  if (!site) return tl::unexpected(std::move(site.error()));
  return VersionFile{header->epoch, std::move(header->seatings), std::move(site->site)};
}

Result<std::map<std::string, std::string>> seatings_in(std::string_view bytes, const std::string& name) {
  auto header = parse_header(bytes);
  if (!header) return damaged(name);
  return std::move(header->seatings);
}

}  // namespace guideway
