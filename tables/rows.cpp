#include "guideway/rows.h"

#include <algorithm>

#include "tables/hops.h"
#include "tables/rendezvous.h"

namespace guideway {
namespace {

// Finds the rows that a change of states or health can touch. It may name a row that stays as it is, never
// miss one.
class ChangedRows {
 public:
  ChangedRows(const Seating& seating, const Hops& hops, std::span<const MemberStatus> before,
              std::span<const MemberStatus> after, const HopRules& rules)
      : seating_(seating),
        hops_(hops),
        everybody_(seating.members, seating.seed),
        changed_(before.size()),
        hop_count_(std::clamp<std::uint32_t>(rules.hops, 1, 3)) {
    const std::vector<bool> took_new = takes_new_flows(seating.members, before, rules);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto member = static_cast<MemberIndex>(i);
      const bool was_disabled = before[i].state == BackendState::disabled;
      const bool down_differs = (before[i].health == Health::down) != (after[i].health == Health::down);
      changed_[i] =
          took_new[i] != hops.takes_new(member) || was_disabled != hops.disabled(member) || down_differs;
      const bool newly_takes = !took_new[i] && hops.takes_new(member);
      if (newly_takes || (was_disabled && !hops.disabled(member))) newcomers_.push_back(member);
    }
  }

  // `before` is the row as it was.
  [[nodiscard]] bool contains(std::uint32_t row, const Row& before) const {
    const MemberIndex holder = seating_.holder[row], former = seating_.former[row];
    if (changed(holder) || changed(former)) return true;
    if (std::any_of(before.hop.begin(), before.hop.end(), [this](MemberIndex m) { return changed(m); }))
      return true;
    if (hops_.has_down_behind_first(before)) return true;
    return !newcomers_.empty() && newcomer_may_enter(row, before);
  }

 private:
  [[nodiscard]] bool changed(MemberIndex member) const { return member != no_member && changed_[member]; }

  // A newcomer comes in through the ranking: as the stand-in or as the best member not yet named. Both
  // places, where they are taken, are held by hops that are neither holder nor former; it has to outrank one
  // of those.
  [[nodiscard]] bool newcomer_may_enter(std::uint32_t row, const Row& before) const {
    if (before.takes_new == 0) return true;
    std::size_t count = 0, ranked = 0;
    Standing worst;
    for (const MemberIndex member : before.hop) {
      if (member == no_member) break;
      ++count;
      if (member == seating_.holder[row] || member == seating_.former[row]) continue;
      const Standing standing = everybody_.standing(member, row);
      if (ranked++ == 0 || outranks(worst, standing)) worst = standing;
    }
    const bool has_stand_in = before.hop[0] != seating_.holder[row] && before.hop[0] != seating_.former[row];
    const bool best_place_free = count < hop_count_ && ranked == (has_stand_in ? 1U : 0U);
    if (best_place_free) return true;
    if (ranked == 0) return false;  // the place is behind the cut
    return std::any_of(newcomers_.begin(), newcomers_.end(), [&](MemberIndex newcomer) {
      return outranks(everybody_.standing(newcomer, row), worst);
    });
  }

  const Seating& seating_;
  const Hops& hops_;  // after the change
  Rendezvous everybody_;
  std::vector<bool> changed_;           // [members]
  std::vector<MemberIndex> newcomers_;  // take new flows, or are not disabled, since this change
  std::uint32_t hop_count_;
};

}  // namespace

std::vector<Row> build_rows(const Seating& seating, std::span<const MemberStatus> status,
                            const HopRules& rules) {
  const Hops hops(seating, status, rules);
  std::vector<Row> rows(seating.row_count);
  for (std::uint32_t row = 0; row < seating.row_count; ++row) rows[row] = hops.row(row);
  return rows;
}

void update_rows(std::vector<Row>& rows, const Seating& seating, std::span<const MemberStatus> before,
                 std::span<const MemberStatus> after, const HopRules& rules) {
  const Hops hops(seating, after, rules);
  const ChangedRows changed(seating, hops, before, after, rules);
  for (std::uint32_t row = 0; row < seating.row_count; ++row) {
    if (changed.contains(row, rows[row])) rows[row] = hops.row(row);
  }
}

}  // namespace guideway
