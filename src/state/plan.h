// Plan: what a change would move, before it is done.
// What: the next version (with its deal), and per backend the rows that it wins and loses.
// Why:  `plan`, `--force` and the answers of commands all print from it, so what was planned is what happens.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guideway/result.h"
#include "snapshot/row_table.h"
#include "state/change.h"
#include "state/live_flows.h"
#include "state/recent_rows.h"
#include "state/service_cover.h"
#include "state/site_version.h"

namespace guideway {

// Health by pool and backend name; what is not named is unknown (counts as health.initial).
using HealthView = std::map<std::string, std::map<std::string, Health>>;
// As it is at one moment; whoever wants to know whether it has changed may compare pointers first.
using SharedHealthView = std::shared_ptr<const HealthView>;

[[nodiscard]] std::vector<MemberStatus> statuses_of(const Seating& seating, const Pool& pool,
                                                    const HealthView& health);
// The rows of one pool as a site version and a health view make them; `recent` only saves time.
[[nodiscard]] RowTable::Shared rows_of(const SiteVersion& version, const Pool& pool, const HealthView& health,
                                       RecentRows& recent);
// Rows digest as things are, and site digest (every backend up), of one pool and of the whole site (over the
// pools in name order as pairs of XXH3(name, 0) and digest). `recent` only saves time.
[[nodiscard]] std::uint64_t rows_digest(const SiteVersion& version, const Pool& pool,
                                        const HealthView& health, RecentRows& recent);
[[nodiscard]] std::uint64_t site_digest(const SiteVersion& version, const Pool& pool, RecentRows& recent);
[[nodiscard]] std::uint64_t site_digest(const SiteVersion& version, RecentRows& recent);

struct BackendMoves {
  std::string pool, backend;
  std::uint32_t seats_before = 0, seats_after = 0;  // rows held
  std::uint32_t first_before = 0, first_after = 0;  // rows whose new flows it takes
  std::uint32_t first_gained = 0, first_lost = 0;
};

// A draining backend that a change cuts off, with the flows that it has left; nobody knows: nullopt.
struct DrainedFlows {
  std::string backend;
  std::optional<std::uint64_t> flows;
  std::optional<UnseenFlows> unseen;  // there may be more than `flows`
  [[nodiscard]] bool may_break() const { return flows != 0U || unseen.has_value(); }
};

struct PoolMoves {
  std::string pool;
  std::uint32_t rows = 0, rows_before = 0;  // 0: there is no such pool
  std::uint32_t seats_moved = 0;            // seats with another holder
  std::uint32_t first_moved = 0;            // rows whose new flows go elsewhere
  std::uint32_t rows_breaking =
      0;  // rows with a present hop that may have live flows and would be in no new hop
  std::vector<std::string> breaking;  // those backends
  std::vector<std::string> cut;  // active backends that are taken out, disabled or put at another address
  std::vector<DrainedFlows> drained;  // draining ones likewise
  bool flow_table = true;             // before and after
  bool ends_new_flows = false;        // somebody took new flows, and nobody will
  // With a flow table: rows that may have live flows of a backend which would be among their hops no more, so that only
  // the table of this director leads to it.
  std::uint32_t rows_by_table = 0;
  // Without a flow table: rows whose former is no hop any more, so that what began before the last deal may break.
  std::uint32_t rows_forgotten = 0;
  // Likewise: other rows where a hop is none any more that has flows if it stood in for a backend that was away.
  std::uint32_t rows_stand_in_forgotten = 0;
  std::vector<BackendMoves> backends;  // every backend of before and after, name order
  RecentRows::Shared rows_after;  // held until the snapshot is built, which finds them in the recent rows
};

// From one version to the next, before anybody has asked the rows what it moves.
struct SiteStep {
  SiteVersion before;
  SiteVersion after;  // the epoch it would get; equal to before when nothing changes
  bool no_op = false;
  bool undo = false;  // back to the version before: any change between, a drain too, makes it another undo
};

struct Plan : SiteStep {
  std::vector<PoolMoves> pools;          // pools that change
  std::vector<ServiceCut> services_cut;  // addresses and ports that go to another pool, or to nobody
  std::vector<std::string> warnings;
  [[nodiscard]] bool needs_force() const;
};

// Pure but for the flows: check -> deal -> compare rows. Refuses what `applied` refuses. `recent` only saves time;
// `flows` is asked for draining backends that the change cuts off, and for no others.
[[nodiscard]] Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change,
                                RecentRows& recent, const LiveFlows& flows = {});
[[nodiscard]] Result<Plan> plan(const SiteVersion& before, const HealthView& health, const Change& change,
                                const LiveFlows& flows = {});

// The two halves of it. Refuses what `applied` refuses.
[[nodiscard]] Result<SiteStep> step(const SiteVersion& before, const Change& change);
// What the step moves; `after` has its seatings already.
[[nodiscard]] Plan compared(SiteStep step, const HealthView& health, RecentRows& recent,
                            const LiveFlows& flows);

// Whether a step takes nothing from anybody, whatever the rows say, so that it needs no force and its plan may be made when
// it is in force: it changes states only, disables nobody, a flow table knows who is with whom, and somebody takes new flows
// after it. False: the rows are to be asked.
[[nodiscard]] bool breaks_nobody(const SiteStep& step, const HealthView& health);

}  // namespace guideway
