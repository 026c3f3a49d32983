// Port preflight: what of the ports can be known to fail before one is opened.
// What: rights, interfaces and files that are not there or not fit, names that are taken, queues, a kernel that would
//       forward the same packets.
// Why:  one sentence with the next step, instead of a driver's error when half of the ports are open.
// Thread: main. It reads the host and changes nothing.
#pragma once

#include <vector>

#include "guideway/fd.h"
#include "guideway/result.h"
#include "state/director_config.h"

namespace guideway {

[[nodiscard]] Result<void> check_ports(const DirectorConfig& config);

// The interfaces that are the kernel's, for as long as the descriptors are open. Refused: one that another daemon has.
[[nodiscard]] Result<std::vector<Fd>> claim_interfaces(const DirectorConfig& config);

// Says what the other end of a veth pair must do.
void warn_of_veth(const DirectorConfig& config);

}  // namespace guideway
