// Reach by AVX-512: sixteen candidates a step, as two registers of draws and one of floats.
#include "tables/reach_variants.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "tables/mix.h"

#define GUIDEWAY_AVX512 __attribute__((target("avx512f,avx512dq")))

namespace guideway {
namespace {

// Arithmetic by operators: the shift and the product among g++ 12's intrinsics warn of a variable of their own.
using EightWords = std::uint64_t __attribute__((vector_size(64)));
using SixteenHalves = std::uint32_t __attribute__((vector_size(64)));
using SixteenInts = std::int32_t __attribute__((vector_size(64)));
using SixteenFloats = float __attribute__((vector_size(64)));

template <class Vector, class Element>
GUIDEWAY_AVX512 inline Vector load_avx512(const Element* at) {
  Vector vector;
  std::memcpy(&vector, at, sizeof(vector));
  return vector;
}

// Eight draws, right in their upper 31 bits, from name_fold ^ row_fold.
GUIDEWAY_AVX512 inline SixteenHalves draws_avx512(EightWords x) {
  x *= mix_factor_first;
  x ^= x >> 33;
  x *= mix_factor_second;
  return reinterpret_cast<SixteenHalves>(x);
}

// The bounds of two times eight draws, for a weight of 1.
GUIDEWAY_AVX512 inline SixteenFloats unweighted_avx512(SixteenHalves low_draws, SixteenHalves high_draws) {
  const SixteenHalves upper = __builtin_shufflevector(low_draws, high_draws, 1, 3, 5, 7, 9, 11, 13, 15, 17,
                                                      19, 21, 23, 25, 27, 29, 31);
  const auto missing = __builtin_convertvector(reinterpret_cast<SixteenInts>(~upper >> 1), SixteenFloats);
  return missing * (missing * reach_half + 1);
}

GUIDEWAY_AVX512 inline SixteenFloats sixteen_bounds_avx512(const std::uint64_t* name_fold,
                                                           const float* inverse_weight,
                                                           std::uint64_t row_fold) {
  return unweighted_avx512(draws_avx512(load_avx512<EightWords>(name_fold) ^ row_fold),
                           draws_avx512(load_avx512<EightWords>(name_fold + 8) ^ row_fold)) *
         load_avx512<SixteenFloats>(inverse_weight);
}

// Of each pair the lesser; `b` where `a` is no number.
GUIDEWAY_AVX512 inline SixteenFloats lesser_avx512(SixteenFloats a, SixteenFloats b) { return a < b ? a : b; }

GUIDEWAY_AVX512 float bounds_avx512(const std::uint64_t* name_fold, const float* inverse_weight,
                                    std::size_t count, std::uint64_t row_fold, float* bound) {
  SixteenFloats least = SixteenFloats{} + __builtin_inff();
  for (std::size_t i = 0; i < count; i += 16) {
    const SixteenFloats sixteen = sixteen_bounds_avx512(name_fold + i, inverse_weight + i, row_fold);
    std::memcpy(bound + i, &sixteen, sizeof(sixteen));
    least = lesser_avx512(sixteen, least);
  }
  const auto low = __builtin_shufflevector(least, least, 0, 1, 2, 3, 4, 5, 6, 7);
  const auto high = __builtin_shufflevector(least, least, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m256 eight = _mm256_min_ps(reinterpret_cast<__m256>(low), reinterpret_cast<__m256>(high));
  const __m128 four = _mm_min_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps(two, two, 1)));
}

GUIDEWAY_AVX512 std::size_t within_avx512(const float* bound, std::size_t count, float limit,
                                          std::uint16_t* found) {
  const __m512 limits = _mm512_set1_ps(limit);
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    unsigned inside = _mm512_cmp_ps_mask(_mm512_loadu_ps(bound + i), limits, _CMP_LE_OQ);
    for (; inside != 0; inside &= inside - 1) {
      found[n++] = static_cast<std::uint16_t>(i + static_cast<unsigned>(std::countr_zero(inside)));
    }
  }
  return n;
}

GUIDEWAY_AVX512 void lead_avx512(const std::uint64_t* name_fold, const float* inverse_weight,
                                 std::size_t count, RowBlock& rows) {
  const auto low_fold = load_avx512<EightWords>(&rows.row_fold[0]);
  const auto high_fold = load_avx512<EightWords>(&rows.row_fold[8]);
  const __m512i left_out_0 = _mm512_load_si512(rows.left_out[0].data()),
                left_out_1 = _mm512_load_si512(rows.left_out[1].data()),
                left_out_2 = _mm512_load_si512(rows.left_out[2].data());
  __m512 least = _mm512_set1_ps(__builtin_inff()), next = least;
  __m512i leader = _mm512_set1_epi32(-1), candidate = _mm512_setzero_si512();
  for (std::size_t i = 0; i < count; ++i) {
    const SixteenFloats product =
        unweighted_avx512(draws_avx512(low_fold ^ name_fold[i]), draws_avx512(high_fold ^ name_fold[i])) *
        inverse_weight[i];
    const auto bound = reinterpret_cast<__m512>(product);
    const __mmask16 may_lead = _mm512_mask_cmpneq_epi32_mask(
        _mm512_mask_cmpneq_epi32_mask(_mm512_cmpneq_epi32_mask(candidate, left_out_0), candidate, left_out_1),
        candidate, left_out_2);
    const __mmask16 leads = _mm512_mask_cmp_ps_mask(may_lead, bound, least, _CMP_LT_OQ);
    const __m512 behind = _mm512_mask_mov_ps(bound, leads, least);
    next = _mm512_mask_mov_ps(next, _mm512_mask_cmp_ps_mask(may_lead, behind, next, _CMP_LT_OQ), behind);
    least = _mm512_mask_mov_ps(least, leads, bound);
    leader = _mm512_mask_mov_epi32(leader, leads, candidate);
    candidate = _mm512_add_epi32(candidate, _mm512_set1_epi32(1));
  }
  _mm512_store_si512(rows.leader.data(), leader);
  _mm512_store_ps(rows.least.data(), least);
  _mm512_store_ps(rows.next.data(), next);
}

}  // namespace

const ReachVariant reach_avx512{"avx512", bounds_avx512, within_avx512, lead_avx512};

}  // namespace guideway

#endif
