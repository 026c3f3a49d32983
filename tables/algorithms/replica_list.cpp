#include "tables/algorithms/replica_list.h"

#include <algorithm>

namespace guideway {

ReplicaList::ReplicaList(std::span<const Node> nodes, std::size_t count, ZoneRule rule)
    : count_(count), met_(nodes.size()) {
  if (rule == ZoneRule::ignore) return;
  std::map<std::string_view, std::size_t> number;
  for (const Node& node : nodes) {
    const std::size_t next = zone_named_.size();
    const bool own = node.zone.empty();
    const std::size_t zone = own ? next : number.try_emplace(node.zone, next).first->second;
    if (zone == next) zone_named_.push_back(false);
    zone_of_.push_back(zone);
  }
  zones_wanted_ = zone_named_.size();
}

bool ReplicaList::offer(MemberIndex member) {
  if (met_[member]) return complete();
  met_[member] = true;
  if (zone_of_.empty()) {
    named_.push_back(member);
  } else if (zone_named_[zone_of_[member]]) {
    waiting_.push_back(member);
  } else {
    zone_named_[zone_of_[member]] = true;
    --zones_wanted_;
    named_.push_back(member);
  }
  return complete();
}

bool ReplicaList::complete() const {
  if (named_.size() >= count_) return true;
  return !zone_of_.empty() && zones_wanted_ == 0 && named_.size() + waiting_.size() >= count_;
}

std::vector<MemberIndex> ReplicaList::take() {
  named_.insert(named_.end(), waiting_.begin(), waiting_.end());
  named_.resize(std::min(named_.size(), count_));
  return std::move(named_);
}

}  // namespace guideway
