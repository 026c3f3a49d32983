// First site: the version that the daemon starts with.
// What: the journal's newest, else the seed, which is journalled only once it is known that this host can serve it.
// Why:  a start that is refused leaves the journal as it was, so that the mended file is read at the next one.
// Thread: main.
#pragma once

#include <optional>

#include "guideway/result.h"
#include "state/director_config.h"
#include "state/journal.h"
#include "state/site.h"
#include "state/store.h"

namespace guideway {

// Reads, checks and tries to build it; writes nothing.
[[nodiscard]] Result<void> check_first_site(const Journal& journal, const std::optional<Site>& seed,
                                            const DirectorConfig& director);

}  // namespace guideway
