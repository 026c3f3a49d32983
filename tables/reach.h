// Reach: how near each candidate of a row may come to being its best (the rule is rendezvous.h's).
// What: a float for each candidate, below which its rank L/w cannot be, by three loops: for one row, one that draws and
//       bounds, and one that lists who lies within a limit; for sixteen rows side by side, one that draws, bounds and
//       keeps who leads. Three variants (plain, AVX2, AVX-512), picked once by what the processor can do.
// Why:  this is nearly all of the work of building a large pool's rows, M * N draws. The bounds take no logarithm, no
//       branch and no look at who is best so far; after them nearly nobody is left to be compared exactly.
// How:  -ln(1 - x) >= x + x^2/2, and the table's chords lie below the logarithm, so with x = 1 - u/2^64 a rank of L/w
//       needs (x + x^2/2) / w <= L/w * ln 2 / 2^32. In units of 2^-31, missing = ~u >> 33 is x rounded down; the last
//       fold of the mix leaves these upper bits of u alone and is spared. The bound is tight where it matters, at the
//       large u that win: by x alone, every sixth row of a pool of ten would have to be compared exactly, which costs
//       such a pool a third of a drain; with x^2/2, every hundredth. Eight roundings to float, five of a bound and three
//       of a reach, err by 2^-21 at most in all; reach_of allows 2^-20.
// Cost: per candidate, on Zen 5: see bench/README.md, Rows/build.
// Not:  a decision: who is within reach is compared exactly by the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tables/mix.h"

namespace guideway {

inline constexpr std::size_t reach_block = 16;

// Sixteen rows, a lane each. Candidates are named by their place in the arrays; nobody_leads is none of them.
inline constexpr std::uint32_t nobody_leads = ~std::uint32_t{0};
struct alignas(64) RowBlock {
  template <class T>
  using Lanes = std::array<T, reach_block>;
  Lanes<std::uint64_t> row_fold;
  std::array<Lanes<std::uint32_t>, 3> left_out;  // who may not lead in this row
  // The first candidate with the least bound, that bound, and the least of the others': infinity where there is none.
  Lanes<std::uint32_t> leader;
  Lanes<float> least, next;
};

struct ReachVariant {
  const char* name;

  // The candidates are parallel arrays of `count` entries, a multiple of reach_block; an inverse weight of NaN is nobody,
  // whose bound is NaN and in nobody's reach. bound[i] = reach_bound(name_fold[i] ^ row_fold, inverse_weight[i]), bit
  // for bit. Returns the least of those that are numbers; infinity if there is none.
  float (*bounds)(const std::uint64_t* name_fold, const float* inverse_weight, std::size_t count,
                  std::uint64_t row_fold, float* bound);

  // Lists in ascending order the i < count with bound[i] <= limit; returns how many they are. `found` has room for
  // `count`, which is a multiple of reach_block and at most 65,536.
  std::size_t (*within)(const float* bound, std::size_t count, float limit, std::uint16_t* found);

  // Who leads in sixteen rows, of `count` candidates (any number); bounds are those of `bounds`. nullptr where this is
  // not faster than one row after the other.
  void (*lead)(const std::uint64_t* name_fold, const float* inverse_weight, std::size_t count,
               RowBlock& rows);
};

// Times x, in units of 2^-31, half of it.
inline constexpr float reach_half = 0x1p-32F;

// The bound of one candidate; folded = name_fold ^ row_fold. A power of two is multiplied with without rounding, so it is
// the same whether sum and product are one instruction or two.
[[nodiscard]] inline float reach_bound(std::uint64_t folded, float inverse_weight) {
  const std::uint64_t u = fold(folded * mix_factor_first) * mix_factor_second;
  const auto missing = static_cast<float>(static_cast<std::int32_t>(~u >> 33));
  return missing * (missing * reach_half + 1) * inverse_weight;
}

// A bound above which nobody ranks better than, or the same as, a standing of this distance L and weight.
[[nodiscard]] inline float reach_of(std::uint64_t distance, float inverse_weight) {
  constexpr double half_ln2 = 0.34657359027997264, slack = 1 + 1.0 / (1 << 20);
  return static_cast<float>(static_cast<double>(distance) * (half_ln2 * slack)) * inverse_weight;
}

// In units of 2^-31: the chords and the table's roundings put L at most 2e-7 * 2^32 above the logarithm, which is 370.
// What a bound lacks is far less: it is of x without its last bit, which is less than 1, times the slope 1 + x < 2.
inline constexpr float reach_chords = 1000;

// No less than reach_of a standing of weight 1 with this bound, without its logarithm; for another weight, bound and
// result are to be scaled. With y = x + x^2/2, -ln(1 - x) <= y + y^3/3 up to x = 1/2.
[[nodiscard]] inline float reach_at_most(float bound) {
  constexpr float whole = 0x1p31F, everything = 0x1p37F, steep = 0x1p61F;
  const float y = bound * (1 / whole);
  const float near = bound * (1.00001F + 0.334F * y * y) + reach_chords;
  // Beyond that everything. By a slope, as a branch would keep a loop over many from being made of vectors.
  const float slope = (y - 0.625F) * steep, far = slope < everything ? slope : everything;
  return near < far ? far : near;
}

// What this processor can run, the fastest last; for tests and benchmarks.
[[nodiscard]] std::span<const ReachVariant> reach_variants();

[[nodiscard]] const ReachVariant& fastest_reach();

}  // namespace guideway
