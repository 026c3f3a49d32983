// Running EAL: one EAL for all tests of this program, without hugepages, PCI or rights.
#pragma once

#include <vector>

namespace guideway {

// Starts it at the first call; false: it does not start here (the reason was logged).
[[nodiscard]] bool eal_runs();
// The lcores that it was started with: as many as two, where there are two CPUs.
[[nodiscard]] std::vector<unsigned> eal_workers();

}  // namespace guideway
