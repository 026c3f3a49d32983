// Mix: MurmurHash3's 64-bit finalizer, the draw of the ranking (contract 1, item 4).
// What: three folds around two multiplications.
// How:  a fold is linear over xor, so fold(name ^ row) = fold(name) ^ fold(row): who draws for many names and rows
//       folds each of them once and goes on with mix_folded. A fold by more than half of the bits undoes itself.
#pragma once

#include <cstdint>

namespace guideway {

inline constexpr std::uint64_t mix_factor_first = 0xff51afd7ed558ccd, mix_factor_second = 0xc4ceb9fe1a85ec53;

[[nodiscard]] constexpr std::uint64_t fold(std::uint64_t x) { return x ^ x >> 33; }

// mix(x) from fold(x).
[[nodiscard]] constexpr std::uint64_t mix_folded(std::uint64_t x) {
  return fold(fold(x * mix_factor_first) * mix_factor_second);
}

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) { return mix_folded(fold(x)); }

// fold(mix(x)): the last fold of the mix and this one undo each other.
[[nodiscard]] constexpr std::uint64_t folded_mix(std::uint64_t x) {
  return fold(fold(x) * mix_factor_first) * mix_factor_second;
}
static_assert(folded_mix(0x0123456789abcdef) == fold(mix(0x0123456789abcdef)));

}  // namespace guideway
