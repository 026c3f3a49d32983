#include "tables/reach.h"

#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace guideway {
namespace {

std::size_t find_plain(const ReachCandidates& candidates, std::size_t begin, std::uint64_t row_mix,
                       std::uint64_t reach) {
  for (std::size_t block = begin; block < candidates.count; block += reach_block) {
    for (std::size_t i = block; i < block + reach_block; ++i) {
      if (~mix(candidates.name_hash[i] ^ row_mix) >> 16 <= reach * candidates.weight[i]) return block;
    }
  }
  return candidates.count;
}

#if defined(__x86_64__)

#define GUIDEWAY_AVX2 __attribute__((target("avx2")))
#define GUIDEWAY_AVX512 __attribute__((target("avx512f,avx512dq")))

// The low 64 bits of a product, which AVX2 has only for 32-bit factors.
GUIDEWAY_AVX2 inline __m256i multiply_avx2(__m256i a, __m256i b) {
  const __m256i crossed = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                           _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
  return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(crossed, 32));
}

GUIDEWAY_AVX2 inline __m256i fold_avx2(__m256i x) { return _mm256_xor_si256(x, _mm256_srli_epi64(x, 33)); }

// All ones where the candidate is out of reach.
GUIDEWAY_AVX2 inline __m256i four_out_of_reach(const ReachCandidates& candidates, std::size_t i,
                                               __m256i row_mix, __m256i reach) {
  __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(candidates.name_hash + i));
  x = fold_avx2(_mm256_xor_si256(x, row_mix));
  x = fold_avx2(multiply_avx2(x, _mm256_set1_epi64x(static_cast<long long>(0xff51afd7ed558ccd))));
  x = fold_avx2(multiply_avx2(x, _mm256_set1_epi64x(static_cast<long long>(0xc4ceb9fe1a85ec53))));
  const __m256i missing = _mm256_srli_epi64(_mm256_xor_si256(x, _mm256_set1_epi64x(-1)), 16);
  const __m256i weight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(candidates.weight + i));
  // Compared as signed numbers: halved, both stay positive, and halving keeps the order but for ties, which it
  // counts as within reach.
  return _mm256_cmpgt_epi64(_mm256_srli_epi64(missing, 1),
                            _mm256_srli_epi64(multiply_avx2(reach, weight), 1));
}

GUIDEWAY_AVX2 std::size_t find_avx2(const ReachCandidates& candidates, std::size_t begin,
                                    std::uint64_t row_mix, std::uint64_t reach) {
  const __m256i row_mixes = _mm256_set1_epi64x(static_cast<long long>(row_mix));
  const __m256i reaches = _mm256_set1_epi64x(static_cast<long long>(reach));
  for (std::size_t block = begin; block < candidates.count; block += reach_block) {
    __m256i all_out = _mm256_set1_epi64x(-1);
    for (std::size_t i = block; i < block + reach_block; i += 4) {
      all_out = _mm256_and_si256(all_out, four_out_of_reach(candidates, i, row_mixes, reaches));
    }
    if (_mm256_movemask_epi8(all_out) != -1) return block;
  }
  return candidates.count;
}

// Arithmetic by operators: the shift and the product among g++ 12's intrinsics warn of a variable of their own.
using EightWords = std::uint64_t __attribute__((vector_size(64)));

GUIDEWAY_AVX512 inline EightWords eight_words(const std::uint64_t* at) {
  EightWords words;
  std::memcpy(&words, at, sizeof(words));
  return words;
}

GUIDEWAY_AVX512 inline unsigned eight_in_reach(const ReachCandidates& candidates, std::size_t i,
                                               std::uint64_t row_mix, std::uint64_t reach) {
  EightWords x = eight_words(candidates.name_hash + i) ^ row_mix;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccd;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53;
  x ^= x >> 33;
  const EightWords limit = eight_words(candidates.weight + i) * reach;
  return _mm512_cmple_epu64_mask(reinterpret_cast<__m512i>(~x >> 16), reinterpret_cast<__m512i>(limit));
}

GUIDEWAY_AVX512 std::size_t find_avx512(const ReachCandidates& candidates, std::size_t begin,
                                        std::uint64_t row_mix, std::uint64_t reach) {
  for (std::size_t block = begin; block < candidates.count; block += reach_block) {
    const unsigned in_reach = eight_in_reach(candidates, block, row_mix, reach) |
                              eight_in_reach(candidates, block + 8, row_mix, reach);
    if (in_reach != 0) return block;
  }
  return candidates.count;
}

#endif

std::vector<ReachVariant> usable_variants() {
  std::vector<ReachVariant> variants{{"plain", find_plain}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) variants.push_back({"avx2", find_avx2});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    variants.push_back({"avx512", find_avx512});
  }
#endif
  return variants;
}

}  // namespace

std::span<const ReachVariant> reach_variants() {
  static const std::vector<ReachVariant> variants = usable_variants();
  return variants;
}

FindInReach fastest_find_in_reach() { return reach_variants().back().find; }

}  // namespace guideway
