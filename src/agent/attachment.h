// Attachment: the agent's verbs that change something.
// What: attach, detach, update. Each is done whole or not at all.
// Why:  the programs hang on the interface, so traffic goes on when the agent has ended; they are replaced
// without a
//       gap and keep their maps.
#pragma once

#include "agent/interface.h"
#include "agent/settings.h"

namespace guideway::agent {

// The caller holds the lock (lock.h) in all of them.
enum class Change { done, nothing_to_do };

[[nodiscard]] Result<Change> attach(const Interface& interface, const Settings& settings);
// Lists that `settings` leaves out stay. With `reload`, the program of this agent takes the place of the
// running one.
[[nodiscard]] Result<Change> update(const Interface& interface, const Settings& settings, bool reload);
[[nodiscard]] Result<void> detach(const Interface& interface);

}  // namespace guideway::agent
