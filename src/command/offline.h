// Offline: a context that is read from files, for verbs that need no daemon.
// What: the site as a director would deal it from an empty seating, health unknown (so
//       health.initial counts), nothing alive.
// Not:  a way to edit a file; commits are refused, plans are welcome.
#pragma once

#include <memory>
#include <string>

#include "command/read_context.h"

namespace guideway {

class OfflineContext final : public ReadContext {
 public:
  // `director` may be empty: sources 192.0.2.1 and 2001:db8::1, as replay has them.
  [[nodiscard]] static Result<std::unique_ptr<OfflineContext>> open(const std::string& site,
                                                                    const std::string& director);
  // No site at all; for verbs that look at none.
  [[nodiscard]] static Result<std::unique_ptr<OfflineContext>> without_site(const std::string& director);

  Result<Plan> commit(const Change& change, const CommitOptions& options) override;
  Result<Plan> plan_undo() override;
  Result<Plan> undo(const CommitOptions& options) override;

 private:
  OfflineContext(const Store& store, DirectorConfig director);
  DirectorConfig director_;
};

}  // namespace guideway
