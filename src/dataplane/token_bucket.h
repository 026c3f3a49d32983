// Token bucket: how many messages a worker may make, by the clock that it is given.
// Thread: one worker.
#pragma once

#include <algorithm>
#include <cstdint>

namespace guideway {

class TokenBucket {
 public:
  constexpr TokenBucket(std::uint32_t per_second, std::uint32_t burst)
      : per_second_(per_second), full_(std::uint64_t{burst} * 1000), left_(full_) {}

  // Whether one may be made now. `now_ms` may wrap.
  [[nodiscard]] bool take(std::uint32_t now_ms) {
    left_ = std::min(full_, left_ + std::uint64_t{now_ms - last_ms_} * per_second_);
    last_ms_ = now_ms;
    if (left_ < 1000) return false;
    left_ -= 1000;
    return true;
  }

 private:
  std::uint32_t per_second_;
  std::uint64_t full_, left_;  // in thousandths
  std::uint32_t last_ms_ = 0;
};

}  // namespace guideway
