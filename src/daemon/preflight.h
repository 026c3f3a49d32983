// Preflight: what can be known to fail is said before anything is touched.
// What: ports (port_preflight.h), workers, hugepages, and a host that would serve the site's addresses itself.
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

// Says so where source_ipv4 or source_ipv6 is no address of this host: answers to the tunnel's packets (ICMP) would be
// lost, and agents may not take them. A twin or a routing daemon may bring the address later, so it is no refusal.
void warn_of_foreign_sources(const DirectorConfig& config);

// Refused: a service address that is an address of this host, whose kernel would answer in our place. Also asked
// before every change of the site, of the services that it does not share with `good`, the site that is served: an
// address that came to the host since is no reason to refuse a drain.
[[nodiscard]] Result<void> check_local_addresses(const Site& site, const Site& good = {});

}  // namespace guideway
