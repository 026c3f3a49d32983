// Log2 table: T[i] = floor(2^32 * log2(1 + i/1024)) for i = 0..1024 (contract 1, item 4).
// What: built by the compiler from integers alone, with its own proof.
// How:  the binary digits of log2(y), 1 <= y < 2, come from squaring: y^2 >= 2 gives a 1 (and y^2 is halved),
//       else a 0. The square is kept as an interval with 63 fraction bits, rounded down at one end and up at
//       the other; a digit counts only where both ends agree on it, so 32 digits are 32 true digits and the
//       floor is exact. The interval doubles with each digit and ends about 2^-30 wide: narrow enough for all
//       1,023 entries, or this would not compile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace guideway {

__extension__ typedef unsigned __int128 Uint128;

// floor(2^32 * log2(y / 2^63)) for y in [2^63, 2^64); nullopt where the interval cannot tell.
[[nodiscard]] constexpr std::optional<std::uint32_t> log2_digits(std::uint64_t y) {
  std::uint64_t low = y, high = y;
  std::uint32_t digits = 0;
  for (int digit = 0; digit < 32; ++digit) {
    const Uint128 low_square = static_cast<Uint128>(low) * low;  // 126 fraction bits
    const Uint128 high_square = static_cast<Uint128>(high) * high;
    const bool two_or_more = (low_square >> 127) != 0;
    if (two_or_more != ((high_square >> 127) != 0)) return std::nullopt;
    const int shift = two_or_more ? 64 : 63;
    low = static_cast<std::uint64_t>(low_square >> shift);
    const Uint128 rounded_up = (high_square + ((static_cast<Uint128>(1) << shift) - 1)) >> shift;
    if ((rounded_up >> 64) != 0) return std::nullopt;
    high = static_cast<std::uint64_t>(rounded_up);
    digits = digits << 1 | (two_or_more ? 1U : 0U);
  }
  return digits;
}

[[nodiscard]] constexpr std::array<std::uint64_t, 1025> make_log2_table() {
  std::array<std::uint64_t, 1025> table{};
  for (std::uint64_t i = 0; i < 1024; ++i)
    table[i] = log2_digits((1024 + i) << 53).value();  // throws: no compile
  table[1024] = std::uint64_t{1} << 32;
  return table;
}

// Defined in log2_table.cpp, so that the work is done once in a build.
extern const std::array<std::uint64_t, 1025> log2_table;

}  // namespace guideway
