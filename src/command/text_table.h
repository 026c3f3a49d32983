// Text table: aligned columns for a person.
// What: a head, lines of cells, each column as wide as its widest cell; numbers to the right.
// Not:  borders, wrapping or paging; a pipe gets the same text without colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "state/quantity.h"

namespace guideway {

enum class Tone : std::uint8_t { plain, good, warn, bad, dim, strong };

// `text` in the tone's colour, or as it is without colours.
[[nodiscard]] std::string toned(std::string_view text, Tone tone, bool color);

struct Cell {
  Cell(std::string value, Tone shade = Tone::plain) : text(std::move(value)), tone(shade) {}
  Cell(const char* value, Tone shade = Tone::plain) : text(value), tone(shade) {}
  Cell(std::uint64_t value);  // with thousands separated: 65,537

  std::string text;
  Tone tone = Tone::plain;
  bool right = false;
};

// A figure: numbers of a column end below each other.
[[nodiscard]] Cell to_the_right(std::string text, Tone tone = Tone::plain);

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : head_(std::move(head)) {}
  void add(std::vector<Cell> line) { lines_.push_back(std::move(line)); }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] std::string text(bool color) const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<Cell>> lines_;
};

// "label  value" lines with the labels padded to one width.
class TextList {
 public:
  void add(std::string label, std::string value) { lines_.emplace_back(std::move(label), std::move(value)); }
  [[nodiscard]] std::string text(bool color) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace guideway
