#include "state/recent_rows.h"

#include <algorithm>

namespace guideway {

RecentRows::Shared RecentRows::get(const std::shared_ptr<const Seating>& seating,
                                   const std::vector<MemberStatus>& status, const HopRules& rules) {
  const auto same_seating = [&](const Entry& e) { return e.seating == seating && e.rules == rules; };
  const auto exact = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return same_seating(e) && e.status == status; });
  if (exact != entries_.end()) {
    std::rotate(entries_.begin(), exact, exact + 1);
    return entries_.front().rows;
  }
  Shared rows;
  if (const auto near = std::find_if(entries_.begin(), entries_.end(), same_seating);
      near != entries_.end()) {
    auto updated = std::make_shared<std::vector<Row>>(*near->rows);
    update_rows(*updated, *seating, near->status, status, rules);
    rows = std::move(updated);
  } else {
    rows = std::make_shared<const std::vector<Row>>(build_rows(*seating, status, rules));
  }
  entries_.push_front({seating, status, rules, rows});
  if (entries_.size() > kept) entries_.pop_back();
  return rows;
}

}  // namespace guideway
