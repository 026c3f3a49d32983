// Recent rows: the rows of the last few pools that were looked at, and the digests of all that still matter.
// What: rows by (seating, status, rules), made from those of the same seating by touching only what changed; digests
//       kept as long as the seating lives.
// Why:  a change is planned, carried out and built into a snapshot over the same rows; building them from nothing
//       costs tens of milliseconds with hundreds of backends, taking them over from a drain before costs one. A digest
//       costs a pass over all rows, which a scrape or a status must not pay for pools that stand still.
//       Whoever holds rows (a plan, a published pool) has them found here, however many pools there are.
// Cost: `kept` vectors of rows, 0.5 MB each at 65,537 rows; `digests_kept` digests a seating.
// Not:  a source of truth: rows are a pure function of what is asked with.
// Thread: any; rows are built outside its lock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "state/counted_rows.h"

namespace guideway {

class RecentRows {
 public:
  using Shared = CountedRows::Shared;
  using SharedSeating = std::shared_ptr<const Seating>;
  static constexpr std::size_t kept = 4, digests_kept = 4;

  // Those of build_rows(*seating, status, rules).
  [[nodiscard]] Shared get(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                           const HopRules& rules);
  // rows_digest of these rows.
  [[nodiscard]] std::uint64_t digest(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                                     const HopRules& rules);

 private:
  template <class Value>
  struct Entry {
    std::vector<MemberStatus> status;
    HopRules rules;
    Value value;
    [[nodiscard]] bool is_of(const std::vector<MemberStatus>& other, const HopRules& other_rules) const {
      return rules == other_rules && status == other;
    }
  };
  struct RowsEntry : Entry<Shared> {
    SharedSeating seating;  // held, so that its address is not used again
  };

  template <class Value>
  using BySeating = std::map<std::weak_ptr<const Seating>, std::deque<Entry<Value>>, std::owner_less<>>;

  // Of the same seating and rules, to be made into others.
  [[nodiscard]] std::optional<Entry<Shared>> near_locked(const SharedSeating& seating, const HopRules& rules);
  Shared find_locked(const SharedSeating& seating, const std::vector<MemberStatus>& status,
                     const HopRules& rules);

  std::mutex mutex_;                                  // guards what follows
  std::deque<RowsEntry> rows_;                        // newest first
  BySeating<std::weak_ptr<const CountedRows>> held_;  // all that somebody still holds
  BySeating<std::uint64_t> digests_;
};

}  // namespace guideway
