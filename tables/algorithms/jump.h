// Jump: a key walks over ever larger numbers of buckets and remembers where it last jumped to.
// What: going from n to n + 1 buckets moves 1 / (n + 1) of the keys, all into the new one.
// Cost: no memory, ln(n) steps.
// Not:  removal: only the last bucket may go.
// Source: Lamping and Veach, A Fast, Minimal Memory, Consistent Hash Algorithm, 2014.
#pragma once

#include <cstdint>

namespace guideway {

// 0..buckets-1; buckets is at least 1.
[[nodiscard]] std::uint32_t jump_bucket(std::uint64_t key, std::uint32_t buckets);

}  // namespace guideway
