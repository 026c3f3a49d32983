// Recent rows: the rows of the last few pools that were looked at.
// Why:  a change is planned, carried out and built into a snapshot over the same rows; building them from nothing
//       costs tens of milliseconds with hundreds of backends, taking them over from a drain before costs one.
// Cost: `kept` vectors of rows, 0.5 MB each at 65,537 rows.
// Not:  a source of truth: rows are a pure function of what is asked with.
// Thread: control.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "guideway/rows.h"

namespace guideway {

class RecentRows {
 public:
  using Shared = std::shared_ptr<const std::vector<Row>>;
  static constexpr std::size_t kept = 4;

  // The same as build_rows(*seating, status, rules).
  [[nodiscard]] Shared get(const std::shared_ptr<const Seating>& seating,
                           const std::vector<MemberStatus>& status, const HopRules& rules);

 private:
  struct Entry {
    std::shared_ptr<const Seating> seating;  // held, so that its address is not used again
    std::vector<MemberStatus> status;
    HopRules rules;
    Shared rows;
  };
  std::deque<Entry> entries_;  // newest first
};

}  // namespace guideway
