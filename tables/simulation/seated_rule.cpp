#include "tables/simulation/seated_rule.h"

namespace guideway {

void SeatedRule::change(const Fleet& fleet) {
  const std::vector<MemberStatus> statuses = fleet.statuses();
  std::vector<Member> members = fleet.members();
  if (members == seating_.members) {
    update_rows(hops_, seating_, statuses_, statuses, {});
  } else {
    std::vector<BackendState> states;
    for (const MemberStatus& status : statuses_) states.push_back(status.state);
    seating_ = deal(seating_, states, std::move(members), mode_).value();
    hops_ = build_rows(seating_, statuses, {});
  }
  statuses_ = statuses;
  numbers_.clear();
  for (const SimulatedBackend& backend : fleet.backends()) numbers_.push_back(backend.number);
  rows_.resize(hops_.size());
  for (std::size_t row = 0; row < hops_.size(); ++row) {
    for (std::size_t i = 0; i < rows_[row].size(); ++i) {
      const MemberIndex member = hops_[row].hop[i];
      rows_[row][i] = member == no_member ? nobody : numbers_[member];
    }
  }
}

}  // namespace guideway
