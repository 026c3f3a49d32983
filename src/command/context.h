// Context: what a command's handler works on: a site to read, a way to change it, and the live director if
//          there is one.
// What: the daemon's controller for changes, one moment of its site for reading (read_context.h), a file
//       (offline.h).
#pragma once

#include "command/live.h"
#include "guideway/result.h"
#include "state/director_config.h"
#include "state/store.h"

namespace guideway {

class Context {
 public:
  virtual ~Context() = default;
  virtual const SiteVersion& version() = 0;
  virtual const HealthView& health() = 0;
  virtual const DirectorConfig& director() = 0;
  virtual RecentRows& recent_rows() = 0;  // so that rows and digests are not made twice
  virtual Result<Plan> plan(const Change& change) = 0;
  // Durable and published to the workers when it returns.
  virtual Result<Plan> commit(const Change& change, const CommitOptions& options) = 0;
  virtual Result<Plan> plan_undo() = 0;
  virtual Result<Plan> undo(const CommitOptions& options) = 0;
  virtual Live* live() = 0;  // nullptr offline
};

}  // namespace guideway
