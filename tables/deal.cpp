// Deal: the seating after a change of members (contract 1, items 3 and 7).
// What: the four rules a to d, one function each, in their order. All indices are those of the new members;
// what the
//       old seating says is translated first, so that a member that left is no_member everywhere.
// Cost: a few passes over the rows plus the walk of maglev.h.
#include <algorithm>
#include <optional>

#include "guideway/placement.h"
#include "tables/maglev.h"
#include "tables/members.h"
#include "tables/preference.h"
#include "tables/quota.h"
#include "tables/rendezvous.h"

namespace guideway {
namespace {

struct Dealing {
  const Seating& before;
  Seating after;
  std::vector<MemberIndex> renumbered;  // [members before] -> index among the new members, or no_member
  std::vector<std::uint32_t> quota;     // [members]
  std::vector<std::uint32_t> held;      // [members] rows held by now
  std::vector<MemberIndex>
      first_before;  // [rows] of a freed row: its first hop before the deal, if still a member

  [[nodiscard]] MemberIndex now(MemberIndex old) const {
    return old == no_member ? no_member : renumbered[old];
  }
  [[nodiscard]] bool is_free(std::uint32_t row) const { return after.holder[row] == no_member; }
  [[nodiscard]] bool below_quota(MemberIndex member) const {
    return member != no_member && held[member] < quota[member];
  }
  void seat(std::uint32_t row, MemberIndex member) {
    after.holder[row] = member;
    ++held[member];
  }
};

// Both lists are in name order.
std::vector<MemberIndex> renumber(std::span<const Member> before, std::span<const Member> after) {
  std::vector<MemberIndex> index(before.size(), no_member);
  std::size_t j = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    while (j < after.size() && after[j].name < before[i].name) ++j;
    if (j < after.size() && after[j].name == before[i].name) index[i] = static_cast<MemberIndex>(j);
  }
  return index;
}

Dealing begin(const Seating& before, std::vector<Member> members) {
  Dealing dealing{.before = before, .after = empty_seating(before.seed, before.row_count)};
  dealing.renumbered = renumber(before.members, members);
  dealing.quota = quotas(members, before.row_count);
  dealing.held.resize(members.size());
  dealing.after.members = std::move(members);
  return dealing;
}

// Rule a, first half: a row stays with its holder as long as that is a member.
void keep_seats(Dealing& dealing) {
  for (std::uint32_t row = 0; row < dealing.before.row_count; ++row) {
    const MemberIndex holder = dealing.now(dealing.before.holder[row]);
    if (holder != no_member) dealing.seat(row, holder);
  }
}

// Rule a, second half: a member above its quota frees the rows that come last in its preference order.
void free_above_quota(Dealing& dealing) {
  struct Seat {
    std::uint32_t position;
    std::uint32_t row;
  };
  // The seats of each member above its quota lie side by side, from begin_of[member] on.
  std::vector<std::size_t> begin_of(dealing.held.size());
  std::vector<PreferencePosition> position;  // of those members, in name order
  std::vector<std::size_t> position_of(dealing.held.size());
  std::size_t seat_count = 0;
  for (std::size_t i = 0; i < dealing.held.size(); ++i) {
    if (dealing.held[i] <= dealing.quota[i]) continue;
    begin_of[i] = seat_count;
    seat_count += dealing.held[i];
    position_of[i] = position.size();
    position.emplace_back(
        preference_of(dealing.after.members[i].name, dealing.after.seed, dealing.after.row_count),
        dealing.after.row_count);
  }

  std::vector<Seat> seats(seat_count);
  std::vector<std::size_t> end_of = begin_of;
  for (std::uint32_t row = 0; row < dealing.after.row_count; ++row) {
    const MemberIndex holder = dealing.after.holder[row];
    if (holder == no_member || dealing.held[holder] <= dealing.quota[holder]) continue;
    seats[end_of[holder]++] = {.position = position[position_of[holder]](row), .row = row};
  }

  const auto earlier = [](const Seat& a, const Seat& b) { return a.position < b.position; };
  for (std::size_t i = 0; i < dealing.held.size(); ++i) {
    if (dealing.held[i] <= dealing.quota[i]) continue;
    const std::span<Seat> own(&seats[begin_of[i]], dealing.held[i]);
    const auto cut = own.begin() + dealing.quota[i];
    std::nth_element(own.begin(), cut, own.end(), earlier);
    std::for_each(cut, own.end(), [&](const Seat& seat) { dealing.after.holder[seat.row] = no_member; });
    dealing.held[i] = dealing.quota[i];
  }
}

// Item 5 with everybody healthy: holder, former, then by ranking, the first that is active.
void recall_first_hops(Dealing& dealing, std::span<const BackendState> states) {
  const Seating& before = dealing.before;
  std::vector<std::uint8_t> active(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) active[i] = states[i] == BackendState::active;
  dealing.first_before.assign(before.row_count, no_member);
  std::optional<Rendezvous> stand_ins;  // made when the first row asks: most deals have none that does

  for (std::uint32_t row = 0; row < before.row_count; ++row) {
    const MemberIndex holder = before.holder[row], former = before.former[row];
    if (!dealing.is_free(row) || holder == no_member) continue;
    MemberIndex first = no_member;
    if (active[holder]) {
      first = holder;
    } else if (former != no_member && active[former]) {
      first = former;
    } else {
      if (!stand_ins) stand_ins.emplace(Rendezvous(before.members, before.seed), active, std::uint8_t{1});
      first = stand_ins->best(row);
    }
    dealing.first_before[row] = dealing.now(first);
  }
}

// Rule b: the rows of a leaving holder go to whom their flows already know.
void give_back_rows_of_leavers(Dealing& dealing) {
  for (std::uint32_t row = 0; row < dealing.before.row_count; ++row) {
    const MemberIndex holder_before = dealing.before.holder[row];
    if (holder_before == no_member || dealing.now(holder_before) != no_member) continue;
    const MemberIndex first = dealing.first_before[row];
    const MemberIndex former = dealing.now(dealing.before.former[row]);
    if (dealing.below_quota(first)) {
      dealing.seat(row, first);
    } else if (dealing.below_quota(former)) {
      dealing.seat(row, former);
    }
  }
}

// Rule c.
void deal_turns(Dealing& dealing) {
  std::vector<Claim> claims;
  claims.reserve(dealing.quota.size());
  for (std::size_t i = 0; i < dealing.quota.size(); ++i) {
    if (dealing.held[i] == dealing.quota[i]) continue;
    const Member& member = dealing.after.members[i];
    claims.push_back({.member = static_cast<MemberIndex>(i),
                      .weight = member.weight,
                      .rows = dealing.quota[i] - dealing.held[i],
                      .preference = preference_of(member.name, dealing.after.seed, dealing.after.row_count)});
  }
  if (!claims.empty()) maglev_deal(claims, dealing.after.holder);
}

// Rule d.
void remember_formers(Dealing& dealing) {
  for (std::uint32_t row = 0; row < dealing.before.row_count; ++row) {
    const MemberIndex holder = dealing.after.holder[row];
    const MemberIndex first = dealing.first_before[row], former = dealing.now(dealing.before.former[row]);
    const bool holder_changed = dealing.now(dealing.before.holder[row]) != holder;
    const bool takes_first = holder_changed && first != no_member && first != holder;
    const MemberIndex remembered = takes_first ? first : former;
    dealing.after.former[row] = remembered == holder ? no_member : remembered;
  }
}

}  // namespace

Result<Seating> deal(const Seating& before, std::span<const BackendState> states_before,
                     std::vector<Member> members, DealMode mode) {
  const auto by_name = [](const Member& a, const Member& b) { return a.name < b.name; };
  if (!std::is_sorted(members.begin(), members.end(), by_name))
    std::sort(members.begin(), members.end(), by_name);
  if (auto checked = check_members(members); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_seating(before); !checked) return tl::unexpected(checked.error());
  if (states_before.size() != before.members.size()) {
    return fail(ErrorKind::internal, "a deal needs the state of each member before it");
  }
  if (members == before.members) return before;

  Dealing dealing = begin(before, std::move(members));
  const bool from_nothing = dealing.before.members.empty();  // and nothing to keep, recall or remember
  if (mode == DealMode::stable && !from_nothing) {
    keep_seats(dealing);
    free_above_quota(dealing);
  }
  if (!from_nothing) recall_first_hops(dealing, states_before);
  if (mode == DealMode::stable && !from_nothing) give_back_rows_of_leavers(dealing);
  deal_turns(dealing);
  if (!from_nothing) remember_formers(dealing);
  return std::move(dealing.after);
}

}  // namespace guideway
