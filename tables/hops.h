// Hops: where the packets of one row may go, and in which order (contract 1, items 5 and 6).
// What: first (seat holder, former or stand-in, whoever takes new flows), holder, former, the best-ranked
//       member not yet named; disabled ones and repeats left out, members that are down last, cut to the
//       pool's number. The first stays in front even where it is down: it only is where health is ignored for
//       the whole pool.
// Cost: a row whose holder takes new flows needs one look through the ranking at most, others two; none where
//       the cut would hide its outcome. Many rows look together (rendezvous.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/rows.h"
#include "tables/rendezvous.h"

namespace guideway {

// What decides about a member's place among the hops, as bits.
struct Standby {
  static constexpr std::uint8_t takes_new = 1, enabled = 2, down = 4;
};

// A set of those bits for every MemberIndex there can be, none for no_member: rows are read without asking whether
// there is anybody.
using StandbyOfMember = std::vector<std::uint8_t>;
[[nodiscard]] StandbyOfMember standby_of(std::span<const Member> members,
                                         std::span<const MemberStatus> status, const HopRules& rules);

class Hops {
 public:
  // The seating must outlive this.
  Hops(const Seating& seating, std::span<const MemberStatus> status, const HopRules& rules,
       const ReachVariant& reach = fastest_reach());

  // Writes these rows of `out`, which has all rows of the table.
  void write(std::span<const std::uint32_t> rows, std::span<Row> out) const;
  [[nodiscard]] std::vector<Row> rows() const;

  [[nodiscard]] const StandbyOfMember& standby() const { return standby_; }
  [[nodiscard]] const Rendezvous& everybody() const { return everybody_; }

 private:
  static constexpr std::size_t batch = 256;  // rows whose questions are asked together

  void write_batch(std::span<const std::uint32_t> rows, std::span<Row> out) const;
  [[nodiscard]] MemberIndex first_of_two(std::uint32_t row) const;

  const Seating& seating_;
  std::uint32_t hops_;
  StandbyOfMember standby_;
  bool any_down_;
  Rendezvous everybody_;
  Rendezvous stand_ins_;  // those that take new flows
  Rendezvous reserves_;   // those that are not disabled
};

}  // namespace guideway
