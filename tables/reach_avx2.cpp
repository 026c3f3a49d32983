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

template <class Element>
GUIDEWAY_AVX2 inline __m256i load_avx2(const Element* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// Four draws, right in their upper 31 bits, from name_fold ^ row_fold.
GUIDEWAY_AVX2 inline __m256 draws_avx2(__m256i x) {
  x = multiply_avx2(x, mix_factor_first);
  x = multiply_avx2(_mm256_xor_si256(x, _mm256_srli_epi64(x, 33)), mix_factor_second);
  return _mm256_castsi256_ps(x);
}

// The bounds of two times four draws, for a weight of 1; in the order 0 1 4 5, 2 3 6 7.
GUIDEWAY_AVX2 inline __m256 mingled_unweighted_avx2(__m256 low_draws, __m256 high_draws) {
  const __m256i upper = _mm256_castps_si256(_mm256_shuffle_ps(low_draws, high_draws, 0xdd));
  const __m256 missing =
      _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_xor_si256(upper, _mm256_set1_epi32(-1)), 1));
  const __m256 steeper = _mm256_add_ps(_mm256_mul_ps(missing, _mm256_set1_ps(reach_half)), _mm256_set1_ps(1));
  return _mm256_mul_ps(missing, steeper);
}
GUIDEWAY_AVX2 inline __m256i unmingled_avx2(__m256i mingled) {
  return _mm256_permute4x64_epi64(mingled, 0xd8);
}

GUIDEWAY_AVX2 inline __m256 eight_bounds_avx2(const std::uint64_t* name_fold, const float* inverse_weight,
                                              __m256i row_fold) {
  const __m256 mingled =
      mingled_unweighted_avx2(draws_avx2(_mm256_xor_si256(load_avx2(name_fold), row_fold)),
                              draws_avx2(_mm256_xor_si256(load_avx2(name_fold + 4), row_fold)));
  const __m256i unweighted = unmingled_avx2(_mm256_castps_si256(mingled));
  return _mm256_mul_ps(_mm256_castsi256_ps(unweighted), _mm256_loadu_ps(inverse_weight));
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

// Eight of the rows, from lane `first` on. Their order is the mingled one until the end; mingling is its own way back.
GUIDEWAY_AVX2 void lead_eight_avx2(const std::uint64_t* name_fold, const float* inverse_weight,
                                   std::size_t count, RowBlock& rows, std::size_t first) {
  const __m256i low_fold = load_avx2(&rows.row_fold[first]), high_fold = load_avx2(&rows.row_fold[first + 4]);
  const __m256i left_out_0 = unmingled_avx2(load_avx2(&rows.left_out[0][first])),
                left_out_1 = unmingled_avx2(load_avx2(&rows.left_out[1][first])),
                left_out_2 = unmingled_avx2(load_avx2(&rows.left_out[2][first]));
  __m256 least = _mm256_set1_ps(__builtin_inff()), next = least;
  __m256i leader = _mm256_set1_epi32(-1), candidate = _mm256_setzero_si256();
  for (std::size_t i = 0; i < count; ++i) {
    const __m256i name = _mm256_set1_epi64x(static_cast<long long>(name_fold[i]));
    const __m256 unweighted = mingled_unweighted_avx2(draws_avx2(_mm256_xor_si256(low_fold, name)),
                                                      draws_avx2(_mm256_xor_si256(high_fold, name)));
    const __m256i left_out = _mm256_or_si256(
        _mm256_or_si256(_mm256_cmpeq_epi32(candidate, left_out_0), _mm256_cmpeq_epi32(candidate, left_out_1)),
        _mm256_cmpeq_epi32(candidate, left_out_2));
    // All ones are no number: nobody's bound.
    const __m256 bound = _mm256_or_ps(_mm256_mul_ps(unweighted, _mm256_set1_ps(inverse_weight[i])),
                                      _mm256_castsi256_ps(left_out));
    const __m256 leads = _mm256_cmp_ps(bound, least, _CMP_LT_OQ);
    next = _mm256_min_ps(_mm256_blendv_ps(bound, least, leads), next);  // the second where the first is NaN
    least = _mm256_blendv_ps(least, bound, leads);
    leader = _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(leader), _mm256_castsi256_ps(candidate), leads));
    candidate = _mm256_add_epi32(candidate, _mm256_set1_epi32(1));
  }
  const auto store = [first](auto& lanes, __m256i mingled) GUIDEWAY_AVX2 {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(&lanes[first]), unmingled_avx2(mingled));
  };
  store(rows.leader, leader);
  store(rows.least, _mm256_castps_si256(least));
  store(rows.next, _mm256_castps_si256(next));
}

GUIDEWAY_AVX2 void lead_avx2(const std::uint64_t* name_fold, const float* inverse_weight, std::size_t count,
                             RowBlock& rows) {
  lead_eight_avx2(name_fold, inverse_weight, count, rows, 0);
  lead_eight_avx2(name_fold, inverse_weight, count, rows, 8);
}

}  // namespace

const ReachVariant reach_avx2{"avx2", bounds_avx2, within_avx2, lead_avx2};

}  // namespace guideway

#endif
