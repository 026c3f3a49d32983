// End to end: the daemon's worker, as it is, between two ports; beside a loop that only swaps MAC addresses.
// What: frames go through a ring device, the worker's round over its queues, and another ring device; the same thread
//       fills the one and empties the other, so that one core is measured and none waits for another.
#pragma once

#include <cstddef>

namespace guideway::bench {

// TSC cycles a packet, the ring devices and the writing of headers included.
struct EndToEnd {
  double macswap = 0, stateless = 0, tracked = 0;
};

// 64-byte TCP of a million flows to one service of 100 backends, GUE over IPv4. EAL runs; ends the process where a
// packet is lost.
[[nodiscard]] EndToEnd run_end_to_end(std::size_t rounds);

}  // namespace guideway::bench
