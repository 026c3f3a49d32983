// Tag match: which words of a bucket begin with a hash's tag, all five at once.
// Why:  nothing foretells the slot, so that a branch a slot would be guessed wrong; this takes none.
// What: a plain form, and one for SSE4.1, which DPDK asks of every x86 anyway; the tests hold the two equal.
// Thread: the words are atomics that other threads may read; the vector form loads them two at a time and is for the
//         thread that writes them.
#pragma once

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace guideway {

inline constexpr std::size_t bucket_slots = 5;
inline constexpr unsigned tag_shift = 20;  // the tag is what stands above the backend's id
using BucketWords = std::array<std::atomic<std::uint64_t>, bucket_slots>;

// Bit n: word n has the hash's tag (or is 0, and so is the tag). Any thread.
[[nodiscard, gnu::always_inline]] inline unsigned match_tags_plain(const BucketWords& words,
                                                                   std::uint64_t hash) {
  return [&]<std::size_t... slot>(std::index_sequence<slot...>) {
    unsigned out = 0;
    ((out = out * 2 +
            ((words[bucket_slots - 1 - slot].load(std::memory_order_relaxed) ^ hash) >> tag_shift == 0 ? 1U
                                                                                                       : 0U)),
     ...);
    return out;
  }
  (std::make_index_sequence<bucket_slots>());
}

// The same for the thread that writes the words, which lie at a multiple of 16 bytes with 8 more of the bucket's behind
// them.
[[nodiscard, gnu::always_inline]] inline unsigned match_tags(const BucketWords& words, std::uint64_t hash) {
#ifdef __SSE4_1__
  const auto* pairs = reinterpret_cast<const __m128i*>(&words);
  const __m128i wanted = _mm_set1_epi64x(static_cast<long long>(hash));
  const auto matching = [&](std::size_t pair) {
    const __m128i difference = _mm_srli_epi64(_mm_xor_si128(_mm_load_si128(pairs + pair), wanted), tag_shift);
    return static_cast<unsigned>(
        _mm_movemask_pd(_mm_castsi128_pd(_mm_cmpeq_epi64(difference, _mm_setzero_si128()))));
  };
  return matching(0) | matching(1) << 2 | (matching(2) & 1) << 4;
#else
  return match_tags_plain(words, hash);
#endif
}

}  // namespace guideway
