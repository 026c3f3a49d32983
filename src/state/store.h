// Store: the present site version and the one way to change it (design section 6: check -> plan -> journal).
// Thread: control; the caller serialises.
#pragma once

#include <memory>
#include <optional>

#include "guideway/result.h"
#include "state/journal.h"
#include "state/plan.h"

namespace guideway {

struct CommitOptions {
  bool force = false;
  std::optional<Epoch> expect_epoch;  // refused (stale) when it is not the present epoch
};

// Refuses (stale) when the options name an epoch that is not the present one.
[[nodiscard]] Result<void> check_epoch(const SiteVersion& current, const CommitOptions& options);

// The site as it is at one moment, to be read and planned on without the caller's lock. Any thread.
struct StoreView {
  std::shared_ptr<const SiteVersion> current, previous;  // previous: what undo goes back to; may be null
  std::shared_ptr<RecentRows> recent_rows;
  Epoch next_epoch{};  // above every one that was ever given

  [[nodiscard]] Result<SiteStep> step(const Change& change) const;
  [[nodiscard]] Result<Plan> plan(const Change& change, const HealthView& health,
                                  const LiveFlows& flows = {}) const;
  // The version before, as a change (its seatings come back with it, as a new epoch).
  [[nodiscard]] Result<Plan> plan_undo(const HealthView& health, const LiveFlows& flows = {}) const;
};

class Store {
 public:
  // `journal` absent: changes live in memory only (replay, offline verbs, tests). `seed` fills an empty
  // journal, with `seatings` where it has them already.
  [[nodiscard]] static Result<Store> open(std::optional<Journal> journal, std::optional<Site> seed,
                                          Seatings seatings = {});

  // No version was there when it was opened.
  [[nodiscard]] bool began_empty() const { return began_empty_; }
  [[nodiscard]] const SiteVersion& current() const { return *view_.current; }
  [[nodiscard]] const StoreView& view() const { return view_; }
  [[nodiscard]] Result<Plan> plan(const Change& change, const HealthView& health,
                                  const LiveFlows& flows = {}) const {
    return view_.plan(change, health, flows);
  }
  [[nodiscard]] Result<Plan> plan_undo(const HealthView& health, const LiveFlows& flows = {}) const {
    return view_.plan_undo(health, flows);
  }
  // Carries out what plan or plan_undo answered; refused (stale) if the site has changed since.
  [[nodiscard]] Result<Plan> commit(Plan plan, const CommitOptions& options);
  // Answers with the plan that was carried out. A refusal (needs force, stale epoch, journal error) leaves
  // all as it was.
  [[nodiscard]] Result<Plan> commit(const Change& change, const HealthView& health,
                                    const CommitOptions& options, const LiveFlows& flows = {});
  [[nodiscard]] Result<Plan> undo(const HealthView& health, const CommitOptions& options,
                                  const LiveFlows& flows = {});

  // For whoever has something to do while the disk works: what commit does when all is checked, in two steps. What was
  // begun is finished, or taken back, before anything else; after an error nothing is begun.
  [[nodiscard]] Result<void> begin(const SiteVersion& version);
  [[nodiscard]] Result<void> finish();
  void take_back() noexcept;
  // Refuses (stale) a step that is not from the present version, or that the options want from another one. It gets the
  // next epoch: the one it was planned with may have been used up by a change that was refused since.
  [[nodiscard]] Result<void> freshen(SiteStep& step, const CommitOptions& options) const;

  // When a version is in force: what the journal does without anybody waiting for it.
  [[nodiscard]] Result<void> tidy();

  // For the snapshot builder, so that what was planned is not computed again.
  [[nodiscard]] const std::shared_ptr<RecentRows>& recent_rows() const { return view_.recent_rows; }

 private:
  class UsesUp;
  Store(std::optional<Journal> journal, SiteVersion version, std::optional<SiteVersion> previous);
  void find_next_epoch();
  std::optional<Journal> journal_;
  bool began_empty_ = false;
  StoreView view_;
  std::shared_ptr<const SiteVersion> next_;  // begun
};

}  // namespace guideway
