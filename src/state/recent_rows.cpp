#include "state/recent_rows.h"

#include <algorithm>

namespace guideway {

RecentRows::Shared RecentRows::find_locked(const SharedSeating& seating,
                                           const std::vector<MemberStatus>& status, const HopRules& rules) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const RowsEntry& entry) {
    return entry.seating == seating && entry.is_of(status, rules);
  });
  if (found != rows_.end()) {
    std::rotate(rows_.begin(), found, found + 1);
    return rows_.front().value;
  }
  if (const auto lent = lent_.find(seating); lent != lent_.end())
    for (const auto& entry : lent->second)
      if (entry.is_of(status, rules))
        if (auto rows = entry.value.lock()) return rows;
  return nullptr;
}

std::optional<RecentRows::Entry<RecentRows::Shared>> RecentRows::near_locked(const SharedSeating& seating,
                                                                             const HopRules& rules) {
  for (const RowsEntry& entry : rows_)
    if (entry.seating == seating && entry.rules == rules) return entry;
  if (const auto lent = lent_.find(seating); lent != lent_.end())
    for (const auto& entry : lent->second)
      if (entry.rules == rules)
        if (auto rows = entry.value.lock()) return Entry<Shared>{entry.status, rules, std::move(rows)};
  return std::nullopt;
}

void RecentRows::lend_locked(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                             const HopRules& rules, const Shared& rows) {
  auto& entries = lent_[seating];
  std::erase_if(entries, [](const auto& entry) { return entry.value.expired(); });
  entries.push_front({status, rules, rows});
}

void RecentRows::lend(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                      const HopRules& rules, const Shared& rows) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lent_, [](const auto& entry) { return entry.first.expired(); });
  lend_locked(seating, status, rules, rows);
}

RecentRows::Shared RecentRows::find(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                    const HopRules& rules) {
  const std::lock_guard lock(mutex_);
  return find_locked(seating, status, rules);
}

RecentRows::Shared RecentRows::get(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                   const HopRules& rules) {
  std::optional<Entry<Shared>> near;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = find_locked(seating, status, rules)) return found;
    near = near_locked(seating, rules);
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
  lend_locked(seating, status, rules, shared);
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
