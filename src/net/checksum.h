// Checksum: the Internet checksum (RFC 1071) over bytes of any alignment.
// What: sums of 16-bit words as they lie in memory; the sum's byte order is the packet's, so that a folded
//       complement is stored as it is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/byte_order.h"

namespace guideway::net {

// A running sum; add words or spans, then fold. A span of odd size is padded by a zero byte, so only the last
// one may be odd.
class ChecksumSum {
 public:
  constexpr ChecksumSum& add(std::uint64_t words) {
    sum_ += (words & 0xffffffff) + (words >> 32);
    return *this;
  }
  ChecksumSum& add(std::span<const std::uint8_t> bytes) {
    const std::uint8_t* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 4; left -= 4, at += 4) sum_ += load<std::uint32_t>(at);
    if (left >= 2) {
      sum_ += load<std::uint16_t>(at);
      left -= 2;
      at += 2;
    }
    if (left == 1) sum_ += *at;
    return *this;
  }
  // The one's complement sum in 16 bits.
  [[nodiscard]] constexpr std::uint16_t folded() const {
    const auto low = static_cast<std::uint32_t>(sum_), high = static_cast<std::uint32_t>(sum_ >> 32);
    std::uint32_t sum = low + high;
    sum += sum < high ? 1 : 0;
    // Both halves are the sum of both; what the lower one carries is the end-around carry of the upper.
    return static_cast<std::uint16_t>((sum + std::rotl(sum, 16)) >> 16);
  }
  // What stands in the checksum field.
  [[nodiscard]] constexpr std::uint16_t checksum() const { return static_cast<std::uint16_t>(~folded()); }

 private:
  std::uint64_t sum_ = 0;
};

// Over a header that holds its own checksum.
[[nodiscard]] inline bool checksum_holds(std::span<const std::uint8_t> header) {
  return ChecksumSum{}.add(header).folded() == 0xffff;
}

}  // namespace guideway::net
