#include "guideway/rows.h"

#include <algorithm>

#include "tables/challenges.h"
#include "tables/hops.h"

namespace guideway {
namespace {

std::vector<MemberIndex> newcomers_between(const StandbyOfMember& before, const StandbyOfMember& after,
                                           std::size_t member_count) {
  constexpr unsigned may_enter = Standby::takes_new | Standby::enabled;
  std::vector<MemberIndex> newcomers;
  for (std::size_t i = 0; i < member_count; ++i) {
    if ((after[i] & ~before[i] & may_enter) != 0) newcomers.push_back(static_cast<MemberIndex>(i));
  }
  return newcomers;
}

// Finds the rows that a change of states or health can touch. It may name a row that stays as it is, but never misses
// one.
class ChangedRows {
 public:
  // `hops` is after the change.
  ChangedRows(const Seating& seating, const StandbyOfMember& before, const Hops& hops, const HopRules& rules)
      : seating_(seating),
        mark_(before.size()),
        challenges_(hops.everybody(), newcomers_between(before, hops.standby(), seating.members.size())),
        hop_count_(std::clamp<std::uint32_t>(rules.hops, 1, 3)) {
    for (std::size_t i = 0; i < seating.members.size(); ++i) {
      const std::uint8_t after = hops.standby()[i];
      const bool only_stops = (before[i] ^ after) == Standby::takes_new && (after & Standby::takes_new) == 0;
      mark_[i] = static_cast<std::uint8_t>((only_stops           ? stopped
                                            : before[i] != after ? changed
                                                                 : 0) |
                                           ((after & Standby::down) != 0 ? down : 0));
      marks_ |= mark_[i];
    }
  }

  // `rows` is as it was before the change.
  [[nodiscard]] std::vector<std::uint32_t> find(std::span<const Row> rows) {
    std::vector<std::uint32_t> found;
    std::array<std::uint8_t, block> touched;
    for (std::size_t begin = 0; begin < rows.size(); begin += block) {
      const std::span<const Row> here = rows.subspan(begin, std::min(block, rows.size() - begin));
      if (marks_ == stopped) {
        look_at_first(here, touched.data());
      } else {
        look_at(begin, here, touched.data());
      }
      list({touched.data(), here.size()}, begin, found);
      if (challenges_.has_newcomers()) challenge(begin, here, touched.data(), found);
    }
    if (challenges_.has_newcomers()) {
      challenges_.settle(found);  // in any order, and some of them twice
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    return found;
  }

 private:
  // Who only takes no new flows any more (a drain) keeps its places behind the first, and nobody gets another one by it
  // where it was not the first: in a pool of ten that spares two of three rows that name it.
  static constexpr std::uint8_t changed = 1, down = 2, stopped = 4;
  static constexpr std::size_t block = 1024;

  // Not 0: the row names somebody who changed, as seat holder, former or hop, or its first has stopped. Without a
  // branch, as the rows of a small pool would have it wrong all the time.
  void look_at(std::size_t begin, std::span<const Row> rows, std::uint8_t* touched) const {
    const MemberIndex* const holder = &seating_.holder[begin];
    const MemberIndex* const former = &seating_.former[begin];
    const std::uint8_t* const mark = mark_.data();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const unsigned first = mark[row.hop[0]], behind = mark[row.hop[1]] | mark[row.hop[2]];
      // Where a hop behind the first is down, members that the cut hid may come forward.
      const unsigned hidden = behind | (row.takes_new == 0 ? first : 0U);
      touched[i] =
          static_cast<std::uint8_t>(((mark[holder[i]] | mark[former[i]] | first | behind) & changed) |
                                    (first & stopped) | (hidden & down));
    }
  }

  // The same where members have stopped, and nothing else is to be seen: a drain.
  void look_at_first(std::span<const Row> rows, std::uint8_t* touched) const {
    const std::uint8_t* const mark = mark_.data();
    for (std::size_t i = 0; i < rows.size(); ++i) touched[i] = mark[rows[i].hop[0]];
  }

  // Without a branch, too.
  static void list(std::span<const std::uint8_t> touched, std::size_t begin,
                   std::vector<std::uint32_t>& found) {
    std::array<std::uint32_t, block> here;
    std::size_t count = 0;
    for (std::size_t i = 0; i < touched.size(); ++i) {
      here[count] = static_cast<std::uint32_t>(begin + i);
      count += touched[i] != 0 ? 1 : 0;
    }
    found.insert(found.end(), here.begin(), here.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // The untouched rows that a newcomer may enter, as far as they are known yet.
  void challenge(std::size_t begin, std::span<const Row> rows, const std::uint8_t* touched,
                 std::vector<std::uint32_t>& found) {
    const MemberIndex* const holder = &seating_.holder[begin];
    const MemberIndex* const former = &seating_.former[begin];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (touched[i] != 0) continue;
      const Row& row = rows[i];
      const auto number = static_cast<std::uint32_t>(begin + i);
      // As nearly everywhere: the holder, then the best of the others.
      const bool as_usual = ((row.hop[0] ^ holder[i]) | (former[i] ^ no_member) | (row.takes_new ^ 1)) == 0;
      if (as_usual && row.hop[1] != no_member) {
        challenges_.add(number, row.hop[1]);
      } else if (newcomer_enters(number, row)) {
        found.push_back(number);
      }
      if (challenges_.full()) challenges_.settle(found);
    }
  }

  // A newcomer comes in through the ranking: as the stand-in or as the best member not yet named. Both
  // places, where they are taken, are held by hops that are neither holder nor former; it has to outrank one
  // of those. False where that is left to a challenge.
  [[nodiscard]] bool newcomer_enters(std::uint32_t row, const Row& before) {
    if (before.takes_new == 0) return true;
    const MemberIndex holder = seating_.holder[row], former = seating_.former[row];
    const auto is_ranked = [&](MemberIndex hop) {
      return hop != no_member && hop != holder && hop != former;
    };
    const bool second = is_ranked(before.hop[1]), third = is_ranked(before.hop[2]);
    const bool room = before.hop[hop_count_ - 1] == no_member;
    if (room && !second && !third) return true;  // nobody has the best place

    // At most one behind the first is ranked. Where nobody is, the best place is behind the cut.
    if (second || third) challenges_.add(row, second ? before.hop[1] : before.hop[2]);
    if (is_ranked(before.hop[0])) {
      if (challenges_.full()) return true;
      challenges_.add(row, before.hop[0]);
    }
    return false;
  }

  const Seating& seating_;
  std::vector<std::uint8_t> mark_;  // of every MemberIndex there can be
  std::uint8_t marks_ = 0;          // all that are set anywhere
  Challenges challenges_;
  std::uint32_t hop_count_;
};

}  // namespace

std::vector<Row> build_rows(const Seating& seating, std::span<const MemberStatus> status,
                            const HopRules& rules) {
  return Hops(seating, status, rules).rows();
}

std::vector<std::uint32_t> update_rows(std::vector<Row>& rows, const Seating& seating,
                                       std::span<const MemberStatus> before,
                                       std::span<const MemberStatus> after, const HopRules& rules) {
  const Hops hops(seating, after, rules);
  const StandbyOfMember standby_before = standby_of(seating.members, before, rules);
  ChangedRows changed(seating, standby_before, hops, rules);
  std::vector<std::uint32_t> found = changed.find(rows);
  std::vector<Row> was;
  was.reserve(found.size());
  for (const std::uint32_t row : found) was.push_back(rows[row]);
  hops.write(found, rows);
  std::size_t count = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(rows[found[i]] == was[i])) found[count++] = found[i];
  found.resize(count);
  return found;
}

}  // namespace guideway
