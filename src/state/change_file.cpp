#include "state/change_file.h"

#include <fmt/format.h>

#include <charconv>

#include "state/seating_file.h"

namespace guideway {
namespace {

constexpr std::string_view title = "# guideway change, journal format 2, bytes ", checksum = ", checksum ";
constexpr std::size_t length_digits = 10, hash_size = 32;
constexpr std::size_t line_size = title.size() + length_digits + checksum.size() + hash_size + 1;

std::size_t whole_blocks(std::size_t bytes) {
  return (bytes + change_block_bytes - 1) / change_block_bytes * change_block_bytes;
}

// The text of the record that `bytes` begin with.
std::optional<std::string_view> record_at(std::string_view bytes) {
  if (bytes.size() < line_size || !bytes.starts_with(title)) return std::nullopt;
  const char* digits = bytes.data() + title.size();
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(digits, digits + length_digits, length);
  if (error != std::errc{} || end != digits + length_digits || length > bytes.size() - line_size)
    return std::nullopt;
  const std::string_view text = bytes.substr(line_size, length);
  const std::string line =
      fmt::format("{}{:0{}}{}{}\n", title, length, length_digits, checksum, content_hash(text));
  if (!bytes.starts_with(line)) return std::nullopt;
  return text;
}

}  // namespace

std::string empty_change_file() { return std::string(change_file_bytes, '\0'); }

std::string framed_record(std::string_view text) {
  std::string out =
      fmt::format("{}{:0{}}{}{}\n{}", title, text.size(), length_digits, checksum, content_hash(text), text);
  out.resize(whole_blocks(out.size()), '\0');
  return out;
}

ChangeFile read_changes(std::string_view bytes) {
  ChangeFile out;
  while (const auto text = record_at(bytes.substr(out.end))) {
    out.records.push_back(*text);
    out.end += whole_blocks(line_size + text->size());
    if (out.end >= bytes.size()) break;
  }
  if (bytes.size() != change_file_bytes) {
    out.damaged_at = out.end;
    return out;
  }
  out.cut_off = bytes.find_first_not_of('\0', out.end) != std::string_view::npos;
  for (std::size_t at = out.end; out.cut_off && at < bytes.size(); at += change_block_bytes)
    if (record_at(bytes.substr(at))) out.damaged_at = out.end;
  return out;
}

}  // namespace guideway
