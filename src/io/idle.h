// Idle: how long a worker sleeps after a poll that brought nothing.
// What: none for the first polls, then 20 us, doubling up to 200 us; after 50 ms of that, 1 ms. One packet starts it anew.
// Why:  TCP's throughput does not notice, an idle core is left to others, and the round trip grows by no more than
//       the sleep. Waking up is what a sleep costs: where a timer takes 20 us (virtual machines), 200 us are a tenth of a
//       core, which is too much for one that nobody has sent anything for as long as people call a moment.
// Thread: one worker.
#pragma once

#include <algorithm>
#include <chrono>

#include "state/director_config.h"

namespace guideway {

class Idle {
 public:
  static constexpr unsigned polls_awake = 256, sleeps_light = 256;
  static constexpr std::chrono::microseconds sleep_min{20}, sleep_light{200}, sleep_deep{1000};

  explicit Idle(Polling polling) : adaptive_(polling == Polling::adaptive) {}

  // After each poll of all queues; how long to sleep before the next one.
  [[nodiscard]] std::chrono::microseconds after(bool found_any) {
    if (found_any) {
      polls_ = 0;
      sleep_ = sleep_min;
      return {};
    }
    if (!adaptive_ || ++polls_ < polls_awake) return {};
    if (polls_ >= polls_awake + sleeps_light) {
      polls_ = polls_awake + sleeps_light;
      return sleep_deep;
    }
    const auto now = sleep_;
    sleep_ = std::min(sleep_ * 2, sleep_light);
    return now;
  }

 private:
  bool adaptive_;
  unsigned polls_ = 0;
  std::chrono::microseconds sleep_ = sleep_min;
};

}  // namespace guideway
