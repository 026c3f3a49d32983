#include "state/recent_rows.h"

#include <algorithm>

namespace guideway {

RecentRows::Shared RecentRows::find_locked(const SharedSeating& seating,
                                           const std::vector<MemberStatus>& status, const HopRules& rules) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const RowsEntry& entry) {
    return entry.seating == seating && entry.is_of(status, rules);
  });
  if (found == rows_.end()) return nullptr;
  std::rotate(rows_.begin(), found, found + 1);
  return rows_.front().value;
}

RecentRows::Shared RecentRows::find(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                    const HopRules& rules) {
  const std::lock_guard lock(mutex_);
  return find_locked(seating, status, rules);
}

RecentRows::Shared RecentRows::get(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                   const HopRules& rules) {
  std::optional<RowsEntry> near;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = find_locked(seating, status, rules)) return found;
    const auto kin = std::find_if(rows_.begin(), rows_.end(), [&](const RowsEntry& entry) {
      return entry.seating == seating && entry.rules == rules;
    });
    if (kin != rows_.end()) near = *kin;
  }
  std::vector<Row> rows;
  if (near) {
    rows = *near->value;
    update_rows(rows, *seating, near->status, status, rules);
  } else {
    rows = build_rows(*seating, status, rules);
  }
  auto shared = std::make_shared<const std::vector<Row>>(std::move(rows));
  const std::lock_guard lock(mutex_);
  rows_.push_front({{status, rules, shared}, seating});
  if (rows_.size() > kept) rows_.pop_back();
  return shared;
}

std::uint64_t RecentRows::digest(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                 const HopRules& rules) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = digests_.find(seating); known != digests_.end())
      for (const auto& entry : known->second)
        if (entry.is_of(status, rules)) return entry.value;
  }
  const std::uint64_t digest = rows_digest(*get(seating, status, rules), seating->members);
  const std::lock_guard lock(mutex_);
  std::erase_if(digests_, [](const auto& entry) { return entry.first.expired(); });
  auto& entries = digests_[seating];
  entries.push_front({status, rules, digest});
  if (entries.size() > digests_kept) entries.pop_back();
  return digest;
}

}  // namespace guideway
