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
  // `hops` is after the change.
  ChangedRows(const Seating& seating, const StandbyOfMember& before, const Hops& hops, const HopRules& rules)
      : seating_(seating),
        everybody_(hops.everybody()),
        mark_(before.size()),
        hop_count_(std::clamp<std::uint32_t>(rules.hops, 1, 3)) {
    const StandbyOfMember& after = hops.standby();
    for (std::size_t i = 0; i < seating.members.size(); ++i) {
      mark_[i] = static_cast<std::uint8_t>((before[i] != after[i] ? changed : 0) |
                                           ((after[i] & Standby::down) != 0 ? down : 0));
      constexpr unsigned may_enter = Standby::takes_new | Standby::enabled;
      if ((after[i] & ~before[i] & may_enter) != 0) newcomers_.push_back(static_cast<MemberIndex>(i));
    }
  }

  // `before` is the row as it was.
  [[nodiscard]] bool contains(std::uint32_t row, const Row& before) const {
    const MemberIndex holder = seating_.holder[row], former = seating_.former[row];
    const unsigned first = mark_[before.hop[0]], behind = mark_[before.hop[1]] | mark_[before.hop[2]];
    if (((mark_[holder] | mark_[former] | first | behind) & changed) != 0) return true;
    // Where a hop behind the first is down, members that the cut hid may come forward.
    if (((behind | (before.takes_new == 0 ? first : 0)) & down) != 0) return true;
    return !newcomers_.empty() && newcomer_may_enter(row, before, holder, former);
  }

 private:
  static constexpr unsigned changed = 1, down = 2;

  // A newcomer comes in through the ranking: as the stand-in or as the best member not yet named. Both
  // places, where they are taken, are held by hops that are neither holder nor former; it has to outrank one
  // of those.
  [[nodiscard]] bool newcomer_may_enter(std::uint32_t row, const Row& before, MemberIndex holder,
                                        MemberIndex former) const {
    if (before.takes_new == 0) return true;
    std::uint32_t count = 0, ranked = 0;
    bool outranked = false;
    const std::uint64_t row_fold = row_fold_of(row);
    for (const MemberIndex member : before.hop) {
      if (member == no_member) break;
      ++count;
      if (member == holder || member == former) continue;
      ++ranked;
      for (const MemberIndex newcomer : newcomers_) {
        outranked |= everybody_.may_outrank(newcomer, member, row_fold);
      }
    }
    // Where there is room and yet nobody is ranked, or only the stand-in, the best place is free.
    const bool has_stand_in = before.hop[0] != holder && before.hop[0] != former;
    return outranked || (count < hop_count_ && ranked == (has_stand_in ? 1U : 0U));
  }

  const Seating& seating_;
  const Rendezvous& everybody_;
  std::vector<std::uint8_t> mark_;      // of every MemberIndex there can be
  std::vector<MemberIndex> newcomers_;  // take new flows, or are not disabled, since this change
  std::uint32_t hop_count_;
};

}  // namespace

std::vector<Row> build_rows(const Seating& seating, std::span<const MemberStatus> status,
                            const HopRules& rules) {
  return Hops(seating, status, rules).rows();
}

void update_rows(std::vector<Row>& rows, const Seating& seating, std::span<const MemberStatus> before,
                 std::span<const MemberStatus> after, const HopRules& rules) {
  const Hops hops(seating, after, rules);
  const StandbyOfMember standby_before = standby_of(seating.members, before, rules);
  const ChangedRows changed(seating, standby_before, hops, rules);
  for (std::uint32_t row = 0; row < seating.row_count; ++row) {
    if (changed.contains(row, rows[row])) hops.write(row, rows[row]);
  }
}

}  // namespace guideway
