#include "state/journal_files.h"

#include <fmt/format.h>

#include <charconv>

namespace guideway {
namespace {

constexpr std::string_view version_prefix = "site-", version_suffix = ".toml";
constexpr std::string_view changes_prefix = "changes-", seating_prefix = "seating-";
constexpr std::string_view mark_prefix = "highest-epoch-";
constexpr std::string_view unfinished_suffix = ".tmp";
constexpr std::size_t epoch_digits = 20;

std::string name_with(std::string_view prefix, Epoch epoch, std::string_view suffix = "") {
  return fmt::format("{}{:0{}}{}", prefix, to_index(epoch), epoch_digits, suffix);
}

std::optional<Epoch> epoch_in(std::string_view name, std::string_view prefix, std::string_view suffix = "") {
  if (name.size() != prefix.size() + epoch_digits + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix))
    return std::nullopt;
  const char* begin = name.data() + prefix.size();
  std::uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(begin, begin + epoch_digits, epoch);
  if (error != std::errc{} || end != begin + epoch_digits) return std::nullopt;
  return Epoch{epoch};
}

}  // namespace

std::string version_name(Epoch epoch) { return name_with(version_prefix, epoch, version_suffix); }
std::string changes_name(Epoch epoch) { return name_with(changes_prefix, epoch); }
std::optional<Epoch> version_in(std::string_view name) {
  return epoch_in(name, version_prefix, version_suffix);
}

std::string seating_name(std::string_view hash) { return fmt::format("{}{}", seating_prefix, hash); }
std::optional<std::string> seating_in(std::string_view name) {
  if (!name.starts_with(seating_prefix) || name.ends_with(unfinished_suffix)) return std::nullopt;
  return std::string(name.substr(seating_prefix.size()));
}

Result<void> put_file(Disk& disk, const std::string& name, std::string_view bytes) {
  const std::string unfinished = name + std::string(unfinished_suffix);
  auto done = disk.write(unfinished, bytes);
  if (done) done = disk.rename(unfinished, name);
  if (!done) (void)disk.remove(unfinished);
  return done;
}

bool is_unfinished(std::string_view name) {
  const auto is_ours = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return name.ends_with(unfinished_suffix) && (is_ours(version_prefix) || is_ours(changes_prefix) ||
                                               is_ours(seating_prefix) || is_ours(mark_prefix));
}

void EpochMark::found(const std::set<std::string>& names) {
  for (const std::string& name : names)
    if (const auto mark = epoch_in(name, mark_prefix)) marks_.insert(*mark);
}

bool EpochMark::is_among(const std::set<std::string>& names) const {
  return !marks_.empty() && names.contains(name_with(mark_prefix, highest()));
}

Result<void> EpochMark::raise(Disk& disk, Epoch epoch) {
  const std::string name = name_with(mark_prefix, epoch);
  const auto old = marks_.empty() ? std::nullopt : std::optional(highest());
  if (old && *old >= epoch && disk.holds(name_with(mark_prefix, *old))) return {};
  marks_.insert(epoch);
  auto done = old ? disk.rename(name_with(mark_prefix, *old), name) : put_file(disk, name, {});
  if (!done && old) done = put_file(disk, name, {});  // somebody took it away
  if (!done) {
    marks_.erase(epoch);
  } else if (old && *old != epoch) {
    marks_.erase(*old);
  }
  return done;
}

void EpochMark::remove_lower(Disk& disk) {
  while (marks_.size() > 1 && disk.remove(name_with(mark_prefix, *marks_.begin())))
    marks_.erase(marks_.begin());
}

}  // namespace guideway
