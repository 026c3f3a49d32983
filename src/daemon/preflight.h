// Preflight: what can be known to fail is said before anything is touched.
// What: rights, interfaces, workers, hugepages, queues, and a host that would serve the site's addresses itself.
// Why:  one sentence with the next step, instead of a driver's error when half of the ports are open.
// Thread: main. It reads the host and changes nothing.
#pragma once

#include "guideway/result.h"
#include "io/eal.h"
#include "state/director_config.h"
#include "state/site.h"

namespace guideway {

// The host against its own file; answers with how to start the EAL.
[[nodiscard]] Result<EalSettings> preflight(const DirectorConfig& config);

// Refused: a service address that is an address of this host, whose kernel would answer in our place. Also asked
// before every change of the site.
[[nodiscard]] Result<void> check_local_addresses(const Site& site);

}  // namespace guideway
