// Rendezvous: how members rank for a row (contract 1, item 4).
// What: weighted highest-random-weight hashing in integers. A member's draw u is a hash of (name, row); the
//       smallest -log2(u / 2^64) / weight is best, then the larger u, then the name.
// Why:  each member is best in its share of the rows, whoever else is there: when one goes, only its rows
//       move.
// How:  best() needs no logarithm for nearly all members. As log2(u/2^64) <= (u/2^64 - 1) / ln 2, and the
//       table's chords lie below the curve, a member of weight w can only reach a rank q = L/w of the best so
//       far where 1 - u/2^64 <= q * ln 2 * w: one multiplication and a compare. The bound is tight for the
//       large u that win, so about ln(N) members per row get the full treatment.
// Cost: best() is a multiply-mix, a multiplication and a compare a member, sixteen members at once: reach.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/placement.h"
#include "tables/reach.h"

namespace guideway {

// A member's standing in one row.
struct Standing {
  std::uint64_t draw = 0;      // u
  std::uint64_t distance = 0;  // L: -log2(u / 2^64) in units of 2^-32, at most 2^38
  std::uint32_t weight = 1;
  MemberIndex member = no_member;
};

// True if a ranks before b; both of the same row.
[[nodiscard]] bool outranks(const Standing& a, const Standing& b);

// L for a draw u.
[[nodiscard]] std::uint64_t draw_distance(std::uint64_t draw);

class Rendezvous {
 public:
  // The candidates are the members where `takes_part` is set, or all where it is empty.
  Rendezvous(std::span<const Member> members, std::uint64_t seed, const std::vector<bool>& takes_part = {});

  [[nodiscard]] std::size_t size() const { return member_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return name_hash_.size() * (sizeof name_hash_[0] + sizeof weight_[0]) +
           member_.size() * sizeof member_[0];
  }

  // The best candidate for a row that is not in `left_out`; no_member if there is none.
  [[nodiscard]] MemberIndex best(std::uint64_t row, std::span<const MemberIndex> left_out = {}) const;

  // All candidates for a row, best first.
  [[nodiscard]] std::vector<MemberIndex> ranking(std::uint64_t row) const;

  // The standing of the i-th candidate. With all members as candidates, i is the member.
  [[nodiscard]] Standing standing(std::size_t i, std::uint64_t row) const;

 private:
  [[nodiscard]] Standing standing_of(std::size_t i, std::uint64_t draw) const;

  FindInReach find_in_reach_;
  // Parallel arrays, in name order. The first two are filled up with nobodies to whole blocks.
  std::vector<std::uint64_t> name_hash_;
  std::vector<std::uint64_t> weight_;
  std::vector<MemberIndex> member_;
};

}  // namespace guideway
