// Lock: keeps two agents off the interfaces of one network namespace.
// What: an abstract socket name, which the kernel keeps per network namespace and gives back when the process
// ends. Not:  a file, which would need a directory that all callers share; `ip netns exec` and containers
// share none.
#pragma once

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway::agent {

// Waits up to ten seconds for another agent to end. Refused as well when the caller is not root.
[[nodiscard]] Result<Fd> take_lock();

}  // namespace guideway::agent
