// Reach: finds the candidates that can still be the best of a row (the bound is rendezvous.h's).
// What: one loop in three variants (plain, AVX2, AVX-512), picked once by what the processor can do.
// Why:  this loop is nearly all of the work of building a large pool's rows, M * N times a hash; sixteen candidates
//       are asked at once, and nearly always all say no.
// Cost: per candidate about 1.3 ns plain, 0.9 ns AVX2, 0.2 ns AVX-512 (Zen 5).
// Not:  a decision: who is in reach is compared exactly by the caller. All variants find the same blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace guideway {

// MurmurHash3's 64-bit finalizer.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccd;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53;
  x ^= x >> 33;
  return x;
}

inline constexpr std::size_t reach_block = 16;
inline constexpr std::uint64_t reach_everything = std::uint64_t{1} << 48;

// Candidates as parallel arrays of `count` entries, a multiple of reach_block.
struct ReachCandidates {
  const std::uint64_t* name_hash;
  const std::uint64_t* weight;  // 1..65535; 0 where there is nobody
  std::size_t count;
};

// The first block at or behind `begin` with a candidate whose draw u = mix(name_hash ^ row_mix) has
// ~u >> 16 <= reach * weight; `count` if there is none. `begin` is a multiple of reach_block; reach is at most
// reach_everything.
using FindInReach = std::size_t (*)(const ReachCandidates& candidates, std::size_t begin,
                                    std::uint64_t row_mix, std::uint64_t reach);

struct ReachVariant {
  const char* name;
  FindInReach find;
};

// What this processor can run, the fastest last; for tests and benchmarks.
[[nodiscard]] std::span<const ReachVariant> reach_variants();

[[nodiscard]] FindInReach fastest_find_in_reach();

}  // namespace guideway
