#include "tables/hops.h"

#include <algorithm>
#include <numeric>

namespace guideway {
namespace {

// The members named for a row so far, in order, without repeats; no_member behind the last.
struct Named {
  std::array<MemberIndex, 4> member{no_member, no_member, no_member, no_member};
  std::uint8_t count = 0;
  std::uint8_t pinned = 0;  // 1: the first takes new flows and stays in front

  void add(MemberIndex candidate) {
    for (std::size_t i = 0; i < count; ++i) {
      if (member[i] == candidate) return;
    }
    member[count++] = candidate;
  }
  // Those that are down behind the others, else in their order (std::stable_partition would allocate for each row).
  template <class IsDown>
  void put_last(const IsDown& is_down) {
    const std::array<MemberIndex, 4> before = member;
    std::size_t to = pinned;
    for (const bool down : {false, true}) {
      for (std::size_t i = pinned; i < count; ++i) {
        if (is_down(before[i]) == down) member[to++] = before[i];
      }
    }
  }
};

// What some rows of a batch ask the ranking, and which rows of the batch those are.
template <std::size_t batch>
class Questions {
 public:
  void ask(std::size_t place, const RowQuestion& question) {
    question_[size_] = question;
    place_[size_++] = static_cast<std::uint16_t>(place);
  }
  // Adds who is best, where there is anybody.
  void answer(const Rendezvous& ranking, std::span<Named> named) {
    std::array<MemberIndex, batch> best;
    ranking.best({question_.data(), size_}, {best.data(), size_});
    for (std::size_t i = 0; i < size_; ++i) {
      if (best[i] != no_member) named[place_[i]].add(best[i]);
    }
  }

 private:
  std::size_t size_ = 0;
  std::array<RowQuestion, batch> question_;
  std::array<std::uint16_t, batch> place_;
};

}  // namespace

StandbyOfMember standby_of(std::span<const Member> members, std::span<const MemberStatus> status,
                           const HopRules& rules) {
  const std::vector<bool> takes_new = takes_new_flows(members, status, rules);
  StandbyOfMember standby(std::size_t{no_member} + 1);
  for (std::size_t i = 0; i < status.size(); ++i) {
    standby[i] =
        static_cast<std::uint8_t>((takes_new[i] ? Standby::takes_new : 0) |
                                  (status[i].state != BackendState::disabled ? Standby::enabled : 0) |
                                  (status[i].health == Health::down ? Standby::down : 0));
  }
  return standby;
}

Hops::Hops(const Seating& seating, std::span<const MemberStatus> status, const HopRules& rules,
           const ReachVariant& reach)
    : seating_(seating),
      hops_(std::clamp<std::uint32_t>(rules.hops, 1, 3)),
      standby_(standby_of(seating.members, status, rules)),
      any_down_(std::any_of(standby_.begin(), standby_.begin() + static_cast<std::ptrdiff_t>(status.size()),
                            [](std::uint8_t standby) { return (standby & Standby::down) != 0; })),
      everybody_(seating.members, seating.seed, reach),
      stand_ins_(everybody_, standby_, Standby::takes_new),
      reserves_(everybody_, standby_, Standby::enabled) {}

MemberIndex Hops::first_of_two(std::uint32_t row) const {
  const MemberIndex holder = seating_.holder[row], former = seating_.former[row];
  if (standby_[holder] & Standby::takes_new) return holder;
  if (standby_[former] & Standby::takes_new) return former;
  return no_member;
}

void Hops::write_batch(std::span<const std::uint32_t> rows, std::span<Row> out) const {
  std::array<Named, batch> named;
  Questions<batch> for_stand_in, for_reserve;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const MemberIndex first = first_of_two(rows[k]);
    if (first != no_member) {
      named[k].add(first);
    } else {
      for_stand_in.ask(k, {.row = rows[k]});
    }
  }
  for_stand_in.answer(stand_ins_, named);

  const auto is_down = [this](MemberIndex member) { return (standby_[member] & Standby::down) != 0; };
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Named& row = named[k];
    row.pinned = row.count;
    for (const MemberIndex member : {seating_.holder[rows[k]], seating_.former[rows[k]]}) {
      if (standby_[member] & Standby::enabled) row.add(member);
    }
    const bool hidden =
        any_down_ && std::any_of(row.member.begin() + row.pinned, row.member.begin() + row.count, is_down);
    if (row.count < hops_ || hidden) {
      for_reserve.ask(k, {rows[k], {row.member[0], row.member[1], row.member[2]}});
    }
  }
  for_reserve.answer(reserves_, named);

  for (std::size_t k = 0; k < rows.size(); ++k) {
    Named& row = named[k];
    if (any_down_) row.put_last(is_down);
    Row& to = out[rows[k]];
    for (std::size_t i = 0; i < to.hop.size(); ++i) to.hop[i] = i < hops_ ? row.member[i] : no_member;
    to.takes_new = row.pinned;
  }
}

void Hops::write(std::span<const std::uint32_t> rows, std::span<Row> out) const {
  for (; !rows.empty(); rows = rows.subspan(std::min(batch, rows.size()))) {
    write_batch(rows.first(std::min(batch, rows.size())), out);
  }
}

std::vector<Row> Hops::rows() const {
  std::vector<Row> rows(seating_.row_count);
  std::vector<std::uint32_t> all(seating_.row_count);
  std::iota(all.begin(), all.end(), 0U);
  write(all, rows);
  return rows;
}

}  // namespace guideway
