// Hops: where the packets of one row may go, and in which order (contract 1, items 5 and 6).
// What: first (seat holder, former or stand-in, whoever takes new flows), holder, former, the best-ranked
//       member not yet named; disabled ones and repeats left out, members that are down last, cut to the
//       pool's number. The first stays in front even where it is down: it only is where health is ignored for
//       the whole pool.
// Cost: a row whose holder takes new flows needs one look through the ranking at most, others two; none where
//       the cut would hide its outcome.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/rows.h"
#include "tables/rendezvous.h"

namespace guideway {

class Hops {
 public:
  // The seating must outlive this.
  Hops(const Seating& seating, std::span<const MemberStatus> status, const HopRules& rules);

  [[nodiscard]] Row row(std::uint32_t row) const;

  [[nodiscard]] bool takes_new(MemberIndex member) const { return takes_new_[member]; }
  [[nodiscard]] bool disabled(MemberIndex member) const { return !enabled_[member]; }
  [[nodiscard]] bool down(MemberIndex member) const { return down_[member]; }

  // True if a hop behind the first of a finished row is down, so that members the cut hid may come forward.
  [[nodiscard]] bool has_down_behind_first(const Row& row) const;

 private:
  [[nodiscard]] MemberIndex first(std::uint32_t row) const;

  const Seating& seating_;
  std::uint32_t hops_;
  std::vector<bool> takes_new_, enabled_, down_;  // [members]
  Rendezvous stand_ins_;                          // those that take new flows
  Rendezvous reserves_;                           // those that are not disabled
};

}  // namespace guideway
