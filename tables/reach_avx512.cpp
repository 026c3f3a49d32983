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

// Eight draws, right in their upper 31 bits.
GUIDEWAY_AVX512 inline SixteenHalves draws_avx512(const std::uint64_t* name_fold, std::uint64_t row_fold) {
  EightWords x = load_avx512<EightWords>(name_fold) ^ row_fold;
  x *= mix_factor_first;
  x ^= x >> 33;
  x *= mix_factor_second;
  return reinterpret_cast<SixteenHalves>(x);
}

GUIDEWAY_AVX512 inline SixteenFloats sixteen_bounds_avx512(const std::uint64_t* name_fold,
                                                           const float* inverse_weight,
                                                           std::uint64_t row_fold) {
  const SixteenHalves upper =
      __builtin_shufflevector(draws_avx512(name_fold, row_fold), draws_avx512(name_fold + 8, row_fold), 1, 3,
                              5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  const auto missing = reinterpret_cast<SixteenInts>(~upper >> 1);
  return __builtin_convertvector(missing, SixteenFloats) * load_avx512<SixteenFloats>(inverse_weight);
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

}  // namespace

const ReachVariant reach_avx512{"avx512", bounds_avx512, within_avx512};

}  // namespace guideway

#endif
