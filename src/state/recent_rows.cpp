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
  if (const auto held = held_.find(seating); held != held_.end())
    for (const auto& entry : held->second)
      if (entry.is_of(status, rules))
        if (auto rows = entry.value.lock()) return rows;
  return nullptr;
}

std::optional<RecentRows::Entry<RecentRows::Shared>> RecentRows::near_locked(const SharedSeating& seating,
                                                                             const HopRules& rules) {
  for (const RowsEntry& entry : rows_)
    if (entry.seating == seating && entry.rules == rules) return entry;
  if (const auto held = held_.find(seating); held != held_.end())
    for (const auto& entry : held->second)
      if (entry.rules == rules)
        if (auto rows = entry.value.lock()) return Entry<Shared>{entry.status, rules, std::move(rows)};
  return std::nullopt;
}

RecentRows::Shared RecentRows::get(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                   const HopRules& rules) {
  std::optional<Entry<Shared>> near;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = find_locked(seating, status, rules)) return found;
    near = near_locked(seating, rules);
  }
  Shared rows = near ? CountedRows::made_from(near->value, *seating, near->status, status, rules)
                     : CountedRows::built(*seating, status, rules);
  const std::lock_guard lock(mutex_);
  std::erase_if(held_, [](const auto& entry) { return entry.first.expired(); });
  auto& held = held_[seating];
  std::erase_if(held, [](const auto& entry) { return entry.value.expired(); });
  held.push_front({status, rules, rows});
  rows_.push_front({{status, rules, rows}, seating});
  if (rows_.size() > kept) rows_.pop_back();
  return rows;
}

std::uint64_t RecentRows::digest(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                 const HopRules& rules) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = digests_.find(seating); known != digests_.end())
      for (const auto& entry : known->second)
        if (entry.is_of(status, rules)) return entry.value;
  }
  const std::uint64_t digest = rows_digest(get(seating, status, rules)->rows(), seating->members);
  const std::lock_guard lock(mutex_);
  std::erase_if(digests_, [](const auto& entry) { return entry.first.expired(); });
  auto& entries = digests_[seating];
  entries.push_front({status, rules, digest});
  if (entries.size() > digests_kept) entries.pop_back();
  return digest;
}

}  // namespace guideway
