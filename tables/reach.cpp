#include "tables/reach.h"

#include <limits>
#include <vector>

#include "tables/reach_variants.h"

namespace guideway {
namespace {

float bounds_plain(const std::uint64_t* name_fold, const float* inverse_weight, std::size_t count,
                   std::uint64_t row_fold, float* bound) {
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    bound[i] = reach_bound(name_fold[i] ^ row_fold, inverse_weight[i]);
    least = bound[i] < least ? bound[i] : least;
  }
  return least;
}

std::size_t within_plain(const float* bound, std::size_t count, float limit, std::uint16_t* found) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (bound[i] <= limit) [[unlikely]]
      found[n++] = static_cast<std::uint16_t>(i);
  }
  return n;
}

std::vector<ReachVariant> usable_variants() {
  std::vector<ReachVariant> variants{{"plain", bounds_plain, within_plain, nullptr}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) variants.push_back(reach_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    variants.push_back(reach_avx512);
  }
#endif
  return variants;
}

}  // namespace

std::span<const ReachVariant> reach_variants() {
  static const std::vector<ReachVariant> variants = usable_variants();
  return variants;
}

const ReachVariant& fastest_reach() { return reach_variants().back(); }

}  // namespace guideway
