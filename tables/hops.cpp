#include "tables/hops.h"

#include <algorithm>

namespace guideway {
namespace {

// The members named for a row so far, in order, without repeats.
struct Named {
  std::array<MemberIndex, 4> member{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const MemberIndex> view() const { return {member.data(), count}; }
  void add(MemberIndex candidate) {
    for (std::size_t i = 0; i < count; ++i) {
      if (member[i] == candidate) return;
    }
    member[count++] = candidate;
  }
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
      everybody_(seating.members, seating.seed, reach),
      stand_ins_(everybody_, standby_, Standby::takes_new),
      reserves_(everybody_, standby_, Standby::enabled) {}

MemberIndex Hops::first(std::uint32_t row) const {
  const MemberIndex holder = seating_.holder[row], former = seating_.former[row];
  if (standby_[holder] & Standby::takes_new) return holder;
  if (standby_[former] & Standby::takes_new) return former;
  return stand_ins_.best(row);
}

void Hops::write(std::uint32_t row, Row& out) const {
  Named named;
  const MemberIndex first = this->first(row);
  if (first != no_member) named.add(first);
  const std::size_t pinned = named.count;
  for (const MemberIndex member : {seating_.holder[row], seating_.former[row]}) {
    if (standby_[member] & Standby::enabled) named.add(member);
  }

  const auto is_down = [this](MemberIndex member) { return (standby_[member] & Standby::down) != 0; };
  bool any_down = false;  // behind the first
  for (std::size_t i = pinned; i < named.count; ++i) any_down |= is_down(named.member[i]);
  if (named.count < hops_ || any_down) {
    const MemberIndex reserve = reserves_.best(row, named.view());
    if (reserve != no_member) {
      any_down |= is_down(reserve);
      named.add(reserve);
    }
  }
  if (any_down) {
    std::stable_partition(named.member.begin() + pinned, named.member.begin() + named.count,
                          [&](MemberIndex member) { return !is_down(member); });
  }

  for (std::size_t i = 0; i < out.hop.size(); ++i) {
    out.hop[i] = i < std::min<std::size_t>(named.count, hops_) ? named.member[i] : no_member;
  }
  out.takes_new = first == no_member ? 0 : 1;
}

std::vector<Row> Hops::rows() const {
  std::vector<Row> rows(seating_.row_count);
  for (std::uint32_t row = 0; row < seating_.row_count; ++row) write(row, rows[row]);
  return rows;
}

}  // namespace guideway
