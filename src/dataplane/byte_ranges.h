// Byte ranges: which parts of a datagram have come.
// What: up to 16 disjoint ranges, neighbours joined, so that fragments in order or in reverse are one range.
// Why:  a fragment that overlaps another may rewrite what was judged before (RFC 1858, RFC 5722).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace guideway {

class ByteRanges {
 public:
  static constexpr std::size_t count_max = 16;
  enum class Added : std::uint8_t {
    fresh,      // none of it was there
    duplicate,  // all of it was there
    overlap,    // some of it was there
    full,       // none of it was there, and it would be a range too many: it is not noted
  };

  // `begin` < `end` <= 65535.
  Added add(std::uint16_t begin, std::uint16_t end) {
    std::size_t at = 0;
    while (at < count_ && ranges_[at].end < begin) ++at;
    // From here on ranges end at `begin` or behind it.
    const bool joins_left = at < count_ && ranges_[at].end == begin;
    const std::size_t next = joins_left ? at + 1 : at;
    if (next < count_ && ranges_[next].begin < end) {
      const Range& there = ranges_[next];
      return there.begin <= begin && end <= there.end ? Added::duplicate : Added::overlap;
    }
    const bool joins_right = next < count_ && ranges_[next].begin == end;
    if (joins_left && joins_right) {
      ranges_[at].end = ranges_[next].end;
      std::copy(ranges_.begin() + static_cast<std::ptrdiff_t>(next + 1),
                ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
                ranges_.begin() + static_cast<std::ptrdiff_t>(next));
      --count_;
    } else if (joins_left) {
      ranges_[at].end = end;
    } else if (joins_right) {
      ranges_[next].begin = begin;
    } else {
      if (count_ == count_max) return Added::full;
      std::copy_backward(ranges_.begin() + static_cast<std::ptrdiff_t>(next),
                         ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
                         ranges_.begin() + static_cast<std::ptrdiff_t>(count_ + 1));
      ranges_[next] = {begin, end};
      ++count_;
    }
    return Added::fresh;
  }

  // The end of the last range; 0 when there is none.
  [[nodiscard]] std::uint16_t end() const { return count_ == 0 ? std::uint16_t{0} : ranges_[count_ - 1].end; }
  [[nodiscard]] bool is_exactly(std::uint16_t end) const {
    return count_ == 1 && ranges_[0].begin == 0 && ranges_[0].end == end;
  }

 private:
  struct Range {
    std::uint16_t begin = 0, end = 0;
  };
  std::array<Range, count_max> ranges_{};  // ascending
  std::size_t count_ = 0;
};

}  // namespace guideway
