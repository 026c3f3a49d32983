// Reach by AVX2: sixteen candidates a step, eight to a register once they are floats.
#include "tables/reach_variants.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>

#include "tables/mix.h"

#define GUIDEWAY_AVX2 __attribute__((target("avx2")))

namespace guideway {
namespace {

// The low 64 bits of a product, which AVX2 has only for 32-bit factors.
GUIDEWAY_AVX2 inline __m256i multiply_avx2(__m256i a, std::uint64_t factor) {
  const __m256i low = _mm256_set1_epi64x(static_cast<long long>(factor));
  const __m256i high = _mm256_set1_epi64x(static_cast<long long>(factor >> 32));
  const __m256i crossed =
      _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), low), _mm256_mul_epu32(a, high));
  return _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64(crossed, 32));
}

// Four draws, right in their upper 31 bits.
GUIDEWAY_AVX2 inline __m256 draws_avx2(const std::uint64_t* name_fold, __m256i row_fold) {
  __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(name_fold));
  x = multiply_avx2(_mm256_xor_si256(x, row_fold), mix_factor_first);
  x = multiply_avx2(_mm256_xor_si256(x, _mm256_srli_epi64(x, 33)), mix_factor_second);
  return _mm256_castsi256_ps(x);
}

GUIDEWAY_AVX2 inline __m256 eight_bounds_avx2(const std::uint64_t* name_fold, const float* inverse_weight,
                                              __m256i row_fold) {
  // The upper halves of eight draws, back in their order.
  const __m256 mingled =
      _mm256_shuffle_ps(draws_avx2(name_fold, row_fold), draws_avx2(name_fold + 4, row_fold), 0xdd);
  const __m256i upper = _mm256_permute4x64_epi64(_mm256_castps_si256(mingled), 0xd8);
  const __m256i missing = _mm256_srli_epi32(_mm256_xor_si256(upper, _mm256_set1_epi32(-1)), 1);
  return _mm256_mul_ps(_mm256_cvtepi32_ps(missing), _mm256_loadu_ps(inverse_weight));
}

GUIDEWAY_AVX2 float bounds_avx2(const std::uint64_t* name_fold, const float* inverse_weight,
                                std::size_t count, std::uint64_t row_fold, float* bound) {
  const __m256i row_folds = _mm256_set1_epi64x(static_cast<long long>(row_fold));
  __m256 least = _mm256_set1_ps(__builtin_inff());
  for (std::size_t i = 0; i < count; i += 8) {
    const __m256 eight = eight_bounds_avx2(name_fold + i, inverse_weight + i, row_folds);
    _mm256_storeu_ps(bound + i, eight);
    least = _mm256_min_ps(eight, least);  // the second where the first is NaN
  }
  const __m128 four = _mm_min_ps(_mm256_castps256_ps128(least), _mm256_extractf128_ps(least, 1));
  const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps(two, two, 1)));
}

GUIDEWAY_AVX2 std::size_t within_avx2(const float* bound, std::size_t count, float limit,
                                      std::uint16_t* found) {
  const __m256 limits = _mm256_set1_ps(limit);
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const __m256 low = _mm256_cmp_ps(_mm256_loadu_ps(bound + i), limits, _CMP_LE_OQ);
    const __m256 high = _mm256_cmp_ps(_mm256_loadu_ps(bound + i + 8), limits, _CMP_LE_OQ);
    auto inside =
        static_cast<unsigned>(_mm256_movemask_ps(low)) | static_cast<unsigned>(_mm256_movemask_ps(high)) << 8;
    for (; inside != 0; inside &= inside - 1) {
      found[n++] = static_cast<std::uint16_t>(i + static_cast<unsigned>(std::countr_zero(inside)));
    }
  }
  return n;
}

}  // namespace

const ReachVariant reach_avx2{"avx2", bounds_avx2, within_avx2};

}  // namespace guideway

#endif
