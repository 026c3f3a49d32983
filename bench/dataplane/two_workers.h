// Two workers: what two of them on two CPUs forward, beside one alone.
// What: each worker has its own queues, counters, flow table and generator, in a thread of its own; snapshot, next hops
//       and publisher are shared, as in the daemon. Times with one and with both take turns.
// Why:  two CPUs need not be two free cores: others use them, and a virtual machine's may be the halves of one core. So
//       arithmetic that touches no memory is measured in the same way in the same run, and a comparison says something
//       about the director only where that doubles.
#pragma once

#include <cstddef>

namespace guideway::bench {

// Both at once, in multiples of one alone.
struct TwoWorkers {
  double arithmetic = 0, stateless = 0, tracked = 0;
};

// A million flows a worker. The first worker is this thread, the second one has the CPU `other_cpu`. EAL runs; ends the
// process where a packet is lost.
[[nodiscard]] TwoWorkers run_two_workers(unsigned other_cpu, std::size_t rounds);

}  // namespace guideway::bench
