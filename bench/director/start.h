// Start: how long guidewayd takes until it serves, beside a program that starts DPDK's EAL and nothing else; and what it
// uses of a core when nothing comes in.
// Thread: one.
#pragma once

#include <string>

namespace guideway::bench {

struct Start {
  double guidewayd_ms = 0, empty_eal_ms = 0;  // from fork to READY=1, medians of turns
};

// Without hugepages, with a null device, an empty journal and a site of three backends.
[[nodiscard]] Start run_start(const std::string& guidewayd, unsigned turns);

// What run_start() starts beside it; comes back when it is told to end.
int run_empty_eal();

// Per cent of one core, all threads, over so many seconds: a ring port that nothing comes in by, polling = "adaptive".
[[nodiscard]] double run_asleep(const std::string& guidewayd, unsigned seconds);

}  // namespace guideway::bench
