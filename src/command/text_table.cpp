#include "command/text_table.h"

#include <algorithm>

namespace guideway {
namespace {

std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "\x1b[32m";
    case Tone::warn:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::strong:
      return "\x1b[1m";
    case Tone::plain:
      break;
  }
  return {};
}

// Characters, not bytes: names and sentences may hold UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const Cell& cell, std::size_t width, bool last, bool color) {
  const std::string space(width - std::min(width, width_of(cell.text)), ' ');
  const std::string body = toned(cell.text, cell.tone, color);
  if (cell.right) return space + body;
  return last ? body : body + space;
}

}  // namespace

std::string toned(std::string_view text, Tone tone, bool color) {
  if (!color || tone == Tone::plain) return std::string(text);
  return std::string(escape_of(tone)) + std::string(text) + "\x1b[0m";
}

Cell::Cell(std::uint64_t value) : text(grouped(value)), right(true) {}

Cell to_the_right(std::string text, Tone tone) {
  Cell out(std::move(text), tone);
  out.right = true;
  return out;
}

std::string TextTable::text(bool color) const {
  std::vector<std::size_t> widths;
  for (const std::string& title : head_) widths.push_back(width_of(title));
  for (const auto& line : lines_) {
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line[i].text));
    }
  }
  const auto print = [&](const std::vector<Cell>& line) {
    std::string out;
    for (std::size_t i = 0; i < line.size() && i < widths.size(); ++i) {
      if (i != 0) out += "  ";
      out += padded(line[i], widths[i], i + 1 == line.size(), color);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::vector<Cell> head;
  for (std::size_t i = 0; i < head_.size(); ++i) {
    head.emplace_back(head_[i], Tone::strong);
    head.back().right = !lines_.empty() && i < lines_.front().size() && lines_.front()[i].right;
  }
  std::string out = print(head);
  for (const auto& line : lines_) out += print(line);
  return out;
}

std::string TextList::text(bool color) const {
  std::size_t width = 0;
  for (const auto& [label, value] : lines_) width = std::max(width, width_of(label));
  std::string out;
  for (const auto& [label, value] : lines_) {
    out += toned(label, Tone::strong, color) + std::string(width - width_of(label) + 2, ' ') + value + "\n";
  }
  return out;
}

}  // namespace guideway
