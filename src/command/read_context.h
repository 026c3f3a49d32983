// Read context: a context over one moment of a site, for whatever only reads or plans.
// What: the site's version, the health and the live director as they were when it was made; plans on them, and
//       refuses to commit.
// Why:  a table of 65,537 rows takes a tenth of a second to print; changes and health verdicts must not wait for it,
//       so nobody holds a lock while a reader reads.
// Thread: the one that made it.
#pragma once

#include <utility>

#include "command/context.h"

namespace guideway {

class ReadContext : public Context {
 public:
  // `director` and `live` (nullptr offline) must outlive it.
  ReadContext(StoreView view, SharedHealthView health, const DirectorConfig& director, Live* live)
      : view_(std::move(view)), health_(std::move(health)), director_(director), live_(live) {}

  const SiteVersion& version() override { return *view_.current; }
  const HealthView& health() override { return *health_; }
  const DirectorConfig& director() override { return director_; }
  RecentRows& recent_rows() override { return *view_.recent_rows; }
  Result<Plan> plan(const Change& change) override { return view_.plan(change, *health_, live_flows(live_)); }
  Result<Plan> plan_undo() override { return view_.plan_undo(*health_, live_flows(live_)); }
  Result<Plan> commit(const Change&, const CommitOptions&) override { return refusal(); }
  Result<Plan> undo(const CommitOptions&) override { return refusal(); }
  Live* live() override { return live_; }

 protected:
  [[nodiscard]] Result<SiteStep> step(const Change& change) const { return view_.step(change); }
  [[nodiscard]] Plan compared(SiteStep step) {
    return guideway::compared(std::move(step), *health_, *view_.recent_rows, live_flows(live_));
  }

 private:
  static tl::unexpected<Error> refusal() {
    return fail(ErrorKind::internal, "a command that only reads wanted to change the site", {},
                "please report this");
  }
  StoreView view_;
  SharedHealthView health_;
  const DirectorConfig& director_;
  Live* live_;
};

}  // namespace guideway
