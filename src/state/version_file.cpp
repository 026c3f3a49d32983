#include "state/version_file.h"

#include "state/site_file.h"

namespace guideway {
namespace {

// Format 1 stood alone. Beside one of format 2 there are changes, so that whoever reads format 1 only refuses it rather
// than going back to what it says.
constexpr std::string_view title = "# guideway site, journal format 2, checksum ";
constexpr std::string_view title_1 = "# guideway site, journal format 1, checksum ";

struct Header {
  VersionLines lines;
  std::string_view site;  // what follows
};

std::optional<Header> parse_header(std::string_view text) {
  auto body = unsealed(title, text);
  if (!body) body = unsealed(title_1, text);
  if (!body) return std::nullopt;
  auto lines = take_version_lines(*body);
  if (!lines) return std::nullopt;
  return Header{std::move(*lines), *body};
}

tl::unexpected<Error> damaged(const std::string& name) {
  return fail(ErrorKind::internal, "the version is damaged (its checksum does not fit)", name);
}

}  // namespace

std::string version_bytes(const VersionFile& version) {
  return sealed(title, version_lines(version.epoch, version.seatings) + print_site(version.site));
}

Result<VersionFile> parse_version(std::string_view bytes, const std::string& name) {
  auto header = parse_header(bytes);
  if (!header) return damaged(name);
  auto site = parse_site(header->site, name);
  if (!site) return tl::unexpected(std::move(site.error()));
  return VersionFile{header->lines.epoch, std::move(header->lines.seatings), std::move(site->site)};
}

Result<SeatingHashes> seatings_in(std::string_view bytes, const std::string& name) {
  auto header = parse_header(bytes);
  if (!header) return damaged(name);
  return std::move(header->lines.seatings);
}

}  // namespace guideway
