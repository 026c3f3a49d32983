#include "state/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "state/plan_sentences.h"
#include "state/seatings.h"
#include "state/site_file.h"

namespace guideway {
namespace {

Error force_wanted(const Plan& plan) {
  return {
      ErrorKind::refused, fmt::format("{}", fmt::join(breaks_of(plan), "; ")), {}, instead_of_force(plan)};
}

Epoch above(Epoch epoch) { return Epoch{to_index(epoch) + 1}; }

// Of a journal that has no version: epoch 1, but where somebody has taken its versions away.
Result<SiteVersion> first_version(const std::optional<Site>& seed, const Seatings& imported, Epoch highest) {
  SiteVersion version;
  version.epoch = above(highest);
  if (seed) version.site = *seed;
  if (auto checked = check_site(version.site); !checked) return tl::unexpected(std::move(checked.error()));
  auto seatings = dealt_seatings(SiteVersion{}, version.site);
  if (seatings) seatings = with_imported(std::move(*seatings), imported, version.site);
  if (!seatings) return tl::unexpected(std::move(seatings.error()));
  version.seatings = std::move(*seatings);
  return version;
}

}  // namespace

Result<void> check_epoch(const SiteVersion& current, const CommitOptions& options) {
  if (!options.expect_epoch || *options.expect_epoch == current.epoch) return {};
  return fail(ErrorKind::stale,
              fmt::format("the site is at epoch {}, not at epoch {}", to_index(current.epoch),
                          to_index(*options.expect_epoch)),
              {}, "look at the present site and make the change again from there");
}

Store::Store(std::optional<Journal> journal, SiteVersion version, std::optional<SiteVersion> previous)
    : journal_(std::move(journal)),
      view_{std::make_shared<const SiteVersion>(std::move(version)),
            previous ? std::make_shared<const SiteVersion>(std::move(*previous)) : nullptr,
            std::make_shared<RecentRows>(), Epoch{}} {
  find_next_epoch();
}

void Store::find_next_epoch() {
  const Epoch highest = journal_ ? journal_->highest() : Epoch{};
  view_.next_epoch = above(std::max(highest, view_.current->epoch));
}

Result<Store> Store::open(std::optional<Journal> journal, std::optional<Site> seed, Seatings seatings) {
  std::optional<SiteVersion> previous;
  if (journal) {
    auto newest = journal->load();
    if (!newest) return tl::unexpected(std::move(newest.error()));
    if (*newest) {
      // A version before that cannot be read costs the undo, not the start.
      if (auto before = journal->load_previous()) previous = std::move(*before);
      return Store(std::move(journal), std::move(**newest), std::move(previous));
    }
  }
  const Epoch highest = journal ? journal->highest() : Epoch{};
  auto version = first_version(seed, seatings, highest);
  if (!version) return tl::unexpected(std::move(version.error()));
  if (journal)
    if (auto stored = journal->store(*version); !stored) return tl::unexpected(std::move(stored.error()));
  Store out(std::move(journal), std::move(*version), std::move(previous));
  out.began_empty_ = highest == Epoch{};
  return out;
}

Result<SiteStep> StoreView::step(const Change& change) const {
  auto out = guideway::step(*current, change);
  if (out && !out->no_op) out->after.epoch = next_epoch;
  return out;
}

Result<Plan> StoreView::plan(const Change& change, const HealthView& health, const LiveFlows& flows) const {
  auto next = step(change);
  if (!next) return tl::unexpected(std::move(next.error()));
  return compared(std::move(*next), health, *recent_rows, flows);
}

Result<Plan> StoreView::plan_undo(const HealthView& health, const LiveFlows& flows) const {
  if (!previous)
    return fail(ErrorKind::refused, "there is no version before this one", {},
                "apply a file, or change the site by commands");
  SiteStep back{*current, *previous};
  back.after.epoch = next_epoch;
  back.after.seatings = restored_seatings(*current, *previous);
  back.undo = true;
  return compared(std::move(back), health, *recent_rows, flows);
}

Result<void> Store::freshen(SiteStep& step, const CommitOptions& options) const {
  if (auto fresh = check_epoch(current(), options); !fresh) return fresh;
  auto fresh = check_epoch(current(), {.expect_epoch = step.before.epoch});
  if (fresh && !step.no_op) step.after.epoch = view_.next_epoch;
  return fresh;
}

// An epoch that the journal has begun to store is used up, whatever comes of it.
class Store::UsesUp {
 public:
  explicit UsesUp(Store& store) : store_(store) {}
  ~UsesUp() { store_.find_next_epoch(); }
  UsesUp(const UsesUp&) = delete;
  UsesUp& operator=(const UsesUp&) = delete;

 private:
  Store& store_;
};

// Whatever can fail comes before the journal's end, which cannot be taken back.
Result<void> Store::begin(const SiteVersion& version) {
  const UsesUp uses_up(*this);
  auto next = std::make_shared<const SiteVersion>(version);
  if (journal_)
    if (auto begun = journal_->begin(*next); !begun) return begun;
  next_ = std::move(next);
  return {};
}

Result<void> Store::finish() {
  const UsesUp uses_up(*this);
  auto next = std::move(next_);
  if (journal_)
    if (auto stored = journal_->finish(); !stored) return stored;
  view_.previous = std::move(view_.current);
  view_.current = std::move(next);
  return {};
}

void Store::take_back() noexcept {
  next_.reset();
  if (journal_) journal_->take_back();
}

Result<Plan> Store::commit(Plan plan, const CommitOptions& options) {
  if (auto fresh = freshen(plan, options); !fresh) return tl::unexpected(std::move(fresh.error()));
  if (plan.no_op) return plan;
  if (plan.needs_force() && !options.force) return tl::unexpected(force_wanted(plan));
  auto stored = begin(plan.after);
  if (stored) stored = finish();
  if (!stored) return tl::unexpected(std::move(stored.error()));
  return plan;
}

Result<Plan> Store::commit(const Change& change, const HealthView& health, const CommitOptions& options,
                           const LiveFlows& flows) {
  if (auto fresh = check_epoch(current(), options); !fresh) return tl::unexpected(std::move(fresh.error()));
  auto planned = plan(change, health, flows);
  if (!planned) return planned;
  return commit(std::move(*planned), options);
}

Result<Plan> Store::undo(const HealthView& health, const CommitOptions& options, const LiveFlows& flows) {
  auto planned = plan_undo(health, flows);
  if (!planned) return planned;
  return commit(std::move(*planned), options);
}

Result<void> Store::tidy() { return journal_ ? journal_->tidy() : Result<void>{}; }

}  // namespace guideway
