// XXH3: the one hash of contract 1, over bytes with a 64-bit seed.
// Not:  for the data plane, which inlines it.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace guideway {

[[nodiscard]] inline std::uint64_t xxh3(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace guideway
