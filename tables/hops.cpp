#include "tables/hops.h"

#include <algorithm>

namespace guideway {
namespace {

template <class Property>
std::vector<bool> members_that(std::span<const MemberStatus> status, Property property) {
  std::vector<bool> set(status.size());
  for (std::size_t i = 0; i < status.size(); ++i) set[i] = property(status[i]);
  return set;
}

// The members named for a row so far, in order, without repeats.
struct Named {
  std::array<MemberIndex, 4> member{};
  std::size_t count = 0;

  [[nodiscard]] std::span<const MemberIndex> view() const { return {member.data(), count}; }
  void add(MemberIndex candidate) {
    const auto names = view();
    if (candidate == no_member || std::find(names.begin(), names.end(), candidate) != names.end()) return;
    member[count++] = candidate;
  }
};

}  // namespace

Hops::Hops(const Seating& seating, std::span<const MemberStatus> status, const HopRules& rules)
    : seating_(seating),
      hops_(std::clamp<std::uint32_t>(rules.hops, 1, 3)),
      takes_new_(takes_new_flows(seating.members, status, rules)),
      enabled_(members_that(status, [](const MemberStatus& s) { return s.state != BackendState::disabled; })),
      down_(members_that(status, [](const MemberStatus& s) { return s.health == Health::down; })),
      stand_ins_(seating.members, seating.seed, takes_new_),
      reserves_(seating.members, seating.seed, enabled_) {}

MemberIndex Hops::first(std::uint32_t row) const {
  const MemberIndex holder = seating_.holder[row], former = seating_.former[row];
  if (holder != no_member && takes_new_[holder]) return holder;
  if (former != no_member && takes_new_[former]) return former;
  return stand_ins_.best(row);
}

Row Hops::row(std::uint32_t row) const {
  Named named;
  const MemberIndex first = this->first(row);
  named.add(first);
  for (const MemberIndex member : {seating_.holder[row], seating_.former[row]}) {
    if (member != no_member && enabled_[member]) named.add(member);
  }

  const std::size_t pinned = first == no_member ? 0 : 1;
  const auto up = [this](MemberIndex member) { return !down_[member]; };
  const bool room = named.count < hops_ ||
                    !std::all_of(named.member.begin() + pinned, named.member.begin() + named.count, up);
  if (room) named.add(reserves_.best(row, named.view()));
  std::stable_partition(named.member.begin() + pinned, named.member.begin() + named.count, up);

  Row out;
  std::copy_n(named.member.begin(), std::min<std::size_t>(named.count, hops_), out.hop.begin());
  out.takes_new = first == no_member ? 0 : 1;
  return out;
}

bool Hops::has_down_behind_first(const Row& row) const {
  return std::any_of(row.hop.begin() + row.takes_new, row.hop.end(),
                     [this](MemberIndex member) { return member != no_member && down_[member]; });
}

}  // namespace guideway
