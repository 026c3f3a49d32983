// Clock: the data plane's time, in milliseconds since the process began to count.
// Why:  workers stamp flows, and the control side reads their tables by the same clock.
// Cost: one rdtsc and a division; taken once a burst.
// Thread: any. Wraps after 49 days; readers take differences.
#pragma once

#include <rte_cycles.h>

#include <cstdint>

namespace guideway {

class Clock {
 public:
  // After the EAL started, which measures the TSC.
  Clock() : start_(rte_rdtsc()), cycles_per_ms_(rte_get_tsc_hz() / 1000) {}

  [[nodiscard]] std::uint32_t now_ms() const {
    return static_cast<std::uint32_t>((rte_rdtsc() - start_) / cycles_per_ms_);
  }

 private:
  std::uint64_t start_;
  std::uint64_t cycles_per_ms_;
};

}  // namespace guideway
