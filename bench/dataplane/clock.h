// Clock: what a piece of work costs, in TSC cycles a packet, beside other pieces in the same run.
// What: pieces take turns in short rounds; a figure is the median of a piece's rounds.
// Why:  machines are shared: whatever slows one piece down for a while slows the others down as well, and a median
//       leaves out the rounds in which somebody else had the core.
#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace guideway::bench {

// One burst's worth of work.
using Work = std::function<void()>;

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Cycles a packet of each piece.
template <std::size_t N>
std::array<double, N> measure(const std::array<Work, N>& pieces, std::size_t packets_a_burst,
                              std::size_t rounds, std::size_t bursts_a_round = 64) {
  std::array<std::vector<double>, N> rounds_of;
  // The first rounds bring the caches to where they stay.
  constexpr std::size_t warm_up = 4;
  for (std::size_t round = 0; round < rounds + warm_up; ++round) {
    for (std::size_t n = 0; n < N; ++n) {
      const std::uint64_t begin = rte_rdtsc_precise();
      for (std::size_t burst = 0; burst < bursts_a_round; ++burst) pieces[n]();
      const std::uint64_t cycles = rte_rdtsc_precise() - begin;
      if (round >= warm_up)
        rounds_of[n].push_back(static_cast<double>(cycles) /
                               static_cast<double>(bursts_a_round * packets_a_burst));
    }
  }
  std::array<double, N> out;
  for (std::size_t n = 0; n < N; ++n) out[n] = median(std::move(rounds_of[n]));
  return out;
}

// TSC cycles a nanosecond; EAL rounds its figure.
inline double cycles_per_ns() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::uint64_t cycles_begin = rte_rdtsc_precise();
  while (Clock::now() - begin < std::chrono::milliseconds(20)) {
  }
  const std::uint64_t cycles = rte_rdtsc_precise() - cycles_begin;
  return static_cast<double>(cycles) /
         static_cast<double>(std::chrono::nanoseconds(Clock::now() - begin).count());
}

}  // namespace guideway::bench
