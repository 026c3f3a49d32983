#include "state/change_record.h"

#include <fmt/format.h>

#include <iterator>

#include "state/site_file.h"

namespace guideway {
namespace {

constexpr std::string_view pool_gone_line = "# gone pool ", service_gone_line = "# gone service ";

tl::unexpected<Error> not_understood(const std::string& name) {
  return fail(ErrorKind::internal, "a change cannot be read", name);
}

}  // namespace

std::string record_text(const ChangeRecord& record) {
  std::string out = version_lines(record.epoch, record.seatings);
  for (const std::string& name : record.delta.pools_gone)
    fmt::format_to(std::back_inserter(out), "{}{}\n", pool_gone_line, name);
  for (const std::string& name : record.delta.services_gone)
    fmt::format_to(std::back_inserter(out), "{}{}\n", service_gone_line, name);
  return out + print_site(record.delta.changed);
}

Result<ChangeRecord> parse_record(std::string_view text, const std::string& name) {
  auto lines = take_version_lines(text);
  if (!lines) return not_understood(name);
  ChangeRecord out{lines->epoch, std::move(lines->seatings), {}};
  while (const auto gone = take_line(text, pool_gone_line)) out.delta.pools_gone.emplace_back(*gone);
  while (const auto gone = take_line(text, service_gone_line)) out.delta.services_gone.emplace_back(*gone);
  auto changed = parse_site_part(text, name);
  if (!changed) return tl::unexpected(std::move(changed.error()));
  out.delta.changed = std::move(*changed);
  return out;
}

Result<VersionLines> record_lines(std::string_view text, const std::string& name) {
  auto lines = take_version_lines(text);
  if (!lines) return not_understood(name);
  return std::move(*lines);
}

}  // namespace guideway
