// Idle: how long a worker sleeps after a poll that brought nothing.
// What: none for the first polls, then 20 us, doubling up to 200 us; one packet starts it anew.
// Why:  TCP's throughput does not notice, an idle core is left to others, and the round trip grows by no more than
//       the sleep.
// Thread: one worker.
#pragma once

#include <algorithm>
#include <chrono>

#include "state/director_config.h"

namespace guideway {

class Idle {
 public:
  static constexpr unsigned polls_awake = 256;
  static constexpr std::chrono::microseconds sleep_min{20}, sleep_max{200};

  explicit Idle(Polling polling) : adaptive_(polling == Polling::adaptive) {}

  // After each poll of all queues; how long to sleep before the next one.
  [[nodiscard]] std::chrono::microseconds after(bool found_any) {
    if (found_any) {
      polls_ = 0;
      sleep_ = sleep_min;
      return {};
    }
    if (!adaptive_ || ++polls_ < polls_awake) return {};
    const auto now = sleep_;
    sleep_ = std::min(sleep_ * 2, sleep_max);
    return now;
  }

 private:
  bool adaptive_;
  unsigned polls_ = 0;
  std::chrono::microseconds sleep_ = sleep_min;
};

}  // namespace guideway
