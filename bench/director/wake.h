// Wake: how long a packet waits that comes in by an idle worker: from the device's ring to the device's ring.
// Thread: main, once a process.
#pragma once

#include <cstdint>

namespace guideway::bench {

struct Wake {
  double asleep_us = 0,
         asleep_p99_us =
             0;  // polling = "adaptive", packets 150 ms apart, so that it sleeps as deep as it ever does
  double awake_us = 0;  // one packet right after the other: the way through without a sleep
};

[[nodiscard]] Wake run_wake(std::uint32_t packets);

}  // namespace guideway::bench
