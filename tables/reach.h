// Reach: how near each candidate of a row may come to being its best (the rule is rendezvous.h's).
// What: a float for each candidate, below which its rank L/w cannot be, by two loops: one that draws and bounds, one
//       that lists who lies within a limit. Three variants (plain, AVX2, AVX-512), picked once by what the processor
//       can do.
// Why:  this is nearly all of the work of building a large pool's rows, M * N draws. The bounds take no logarithm, no
//       branch and no look at who is best so far; after them nearly nobody is left to be compared exactly.
// How:  -ln(u/2^64) >= 1 - u/2^64, and the table's chords lie below the logarithm, so a rank of L/w needs
//       (1 - u/2^64) / w <= L/w * ln 2 / 2^32. In units of 2^-31, missing = ~u >> 33 is 1 - u/2^64 rounded down; the
//       last fold of the mix leaves these upper bits of u alone and is spared. The bound is tight where it matters, at
//       the large u that win. Six roundings to float, three of a bound and three of a reach, err by less than 2^-21 in all; reach_of allows 2^-20.
// Cost: per candidate, on Zen 5: see bench/README.md, Rows/build.
// Not:  a decision: who is within reach is compared exactly by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tables/mix.h"

namespace guideway {

inline constexpr std::size_t reach_block = 16;

struct ReachVariant {
  const char* name;

  // The candidates are parallel arrays of `count` entries, a multiple of reach_block; an inverse weight of NaN is nobody,
  // whose bound is NaN and in nobody's reach. bound[i] = float(~u >> 33) * inverse_weight[i] with
  // u = mix_folded(name_fold[i] ^ row_fold). Returns the least of those that are numbers; infinity if there is none.
  float (*bounds)(const std::uint64_t* name_fold, const float* inverse_weight, std::size_t count,
                  std::uint64_t row_fold, float* bound);

  // Lists in ascending order the i < count with bound[i] <= limit; returns how many they are. `found` has room for
  // `count`, which is a multiple of reach_block and at most 65,536.
  std::size_t (*within)(const float* bound, std::size_t count, float limit, std::uint16_t* found);
};

// The bound of one candidate; folded = name_fold ^ row_fold.
[[nodiscard]] inline float reach_bound(std::uint64_t folded, float inverse_weight) {
  const std::uint64_t u = fold(folded * mix_factor_first) * mix_factor_second;
  return static_cast<float>(static_cast<std::int32_t>(~u >> 33)) * inverse_weight;
}

// A bound above which nobody ranks better than, or the same as, a standing of this distance L and weight.
[[nodiscard]] inline float reach_of(std::uint64_t distance, float inverse_weight) {
  constexpr double half_ln2 = 0.34657359027997264, slack = 1 + 1.0 / (1 << 20);
  return static_cast<float>(static_cast<double>(distance) * (half_ln2 * slack)) * inverse_weight;
}

// In units of 2^-31: the chords and the table's roundings put L at most 2e-7 * 2^32 above the logarithm, which is 370, and
// a bound lacks less than 1.
inline constexpr float reach_chords = 1000;

// No less than reach_of a standing of weight 1 with this bound, without its logarithm; for another weight, bound and
// result are to be scaled. Up to x = 1/2, -ln(1 - x) <= x + x^2/2 + x^3.
[[nodiscard]] inline float reach_at_most(float bound) {
  constexpr float whole = 0x1p31F, everything = 0x1p37F;
  const float x = bound * (1 / whole);
  return x > 0.5F ? everything : bound * (1.00001F + x * (0.5F + x)) + reach_chords;
}

// What this processor can run, the fastest last; for tests and benchmarks.
[[nodiscard]] std::span<const ReachVariant> reach_variants();

[[nodiscard]] const ReachVariant& fastest_reach();

}  // namespace guideway
