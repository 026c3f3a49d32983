// MD5: the hash that ketama and some published figures are made of.
// How:  nettle, whose functions have names of their own: those of libmd have deprecated namesakes in libbsd, which comes
//       with DPDK.
// Not:  for anything that needs a hash by choice: XXH3 is shorter and thirty times as fast.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace guideway {

using Md5Digest = std::array<std::uint8_t, 16>;

[[nodiscard]] Md5Digest md5(std::string_view bytes);

// Four digest bytes from `at` on, as libketama reads them.
[[nodiscard]] constexpr std::uint32_t md5_word_le(const Md5Digest& digest, std::size_t at) {
  return std::uint32_t{digest[at + 3]} << 24 | std::uint32_t{digest[at + 2]} << 16 |
         std::uint32_t{digest[at + 1]} << 8 | digest[at];
}

}  // namespace guideway
