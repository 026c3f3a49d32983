// Preference: the order in which a member wants the rows (contract 1, item 3).
// What: a walk over all M rows from an offset in steps of a skip; M is prime, so it meets each row once.
// Cost: a step is an addition; the position of a row is three multiplications, after a few dozen divisions once a member.
#pragma once

#include <cstdint>
#include <string_view>

namespace guideway {

struct Preference {
  std::uint32_t offset = 0;  // 0..M-1
  std::uint32_t skip = 1;    // 1..M-1
};

[[nodiscard]] Preference preference_of(std::string_view name, std::uint64_t seed, std::uint32_t row_count);

// The row after `row` in the walk.
[[nodiscard]] inline std::uint32_t next_row(Preference preference, std::uint32_t row,
                                            std::uint32_t row_count) {
  const std::uint32_t next = row + preference.skip;  // below 2 * rows_max
  return next >= row_count ? next - row_count : next;
}

// Tells at which step of its walk a member meets a row.
class PreferencePosition {
 public:
  PreferencePosition(Preference preference, std::uint32_t row_count);
  [[nodiscard]] std::uint32_t operator()(std::uint32_t row) const {
    const std::uint32_t distance = row >= offset_ ? row - offset_ : row + row_count_ - offset_;
    // distance * inverse modulo M with a quotient that may be one too small, and so without a division.
    const auto quotient = static_cast<std::uint32_t>(distance * inverse_by_rows_ >> 32);
    const std::uint32_t rest = distance * inverse_ - quotient * row_count_;  // modulo 2^32, and below 2 * M
    return rest >= row_count_ ? rest - row_count_ : rest;
  }

 private:
  std::uint32_t offset_;
  std::uint32_t row_count_;
  std::uint32_t inverse_;          // of the skip, modulo M
  std::uint64_t inverse_by_rows_;  // floor(2^32 * inverse / M)
};

}  // namespace guideway
