// Rendezvous: how members rank for a row (contract 1, item 4).
// What: weighted highest-random-weight hashing in integers. A member's draw u is a hash of (name, row); the
//       smallest -log2(u / 2^64) / weight is best, then the larger u, then the name.
// Why:  each member is best in its share of the rows, whoever else is there: when one goes, only its rows
//       move.
// How:  best() needs no logarithm for nearly all members: a bound that costs a multiplication tells who can still win
//       (reach.h). The least bound names the likely winner; only who comes close to it is compared exactly. Of many rows
//       sixteen are swept side by side, so that nearly all of them need no comparison, no branch and no second look.
// Cost: best() is one sweep over the members, 0.1 ns a member where AVX-512 sweeps, and a few exact comparisons; of
//       many rows the sweep alone.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "guideway/placement.h"
#include "tables/log2_table.h"
#include "tables/mix.h"
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
[[nodiscard]] inline bool outranks(const Standing& a, const Standing& b) {
  // At most 2^38 * 65535: no overflow.
  const std::uint64_t a_rank = a.distance * b.weight, b_rank = b.distance * a.weight;
  if (a_rank != b_rank) return a_rank < b_rank;
  if (a.draw != b.draw) return a.draw > b.draw;
  return a.member < b.member;
}

// L for a draw u.
[[nodiscard]] inline std::uint64_t draw_distance(std::uint64_t draw) {
  const std::uint64_t x = draw | 1;
  const int exponent = 63 - std::countl_zero(x);
  const std::uint64_t mantissa = x << (63 - exponent);
  const std::uint64_t i = mantissa >> 53 & 1023;
  const std::uint64_t fraction = mantissa >> 21 & 0xffffffff;
  const std::uint64_t chord = (log2_table[i + 1] - log2_table[i]) * fraction >> 32;
  return (std::uint64_t{1} << 38) - ((static_cast<std::uint64_t>(exponent) << 32) + log2_table[i] + chord);
}

// Who is best in this row, of those that are not left out? no_member: nobody.
struct RowQuestion {
  static constexpr std::size_t left_out_max = 3;
  std::uint32_t row = 0;
  std::array<MemberIndex, left_out_max> left_out{no_member, no_member, no_member};
};

// What a draw depends on besides the name, made once for many names.
[[nodiscard]] constexpr std::uint64_t row_fold_of(std::uint64_t row) { return folded_mix(row); }

class Rendezvous {
 public:
  // All members are candidates.
  Rendezvous(std::span<const Member> members, std::uint64_t seed,
             const ReachVariant& reach = fastest_reach());

  // The candidates of `all` for which takes_part[member] & bit.
  Rendezvous(const Rendezvous& all, std::span<const std::uint8_t> takes_part, std::uint8_t bit);

  [[nodiscard]] std::size_t size() const { return member_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return name_fold_.size() * (sizeof name_fold_[0] + sizeof inverse_weight_[0]) +
           member_.size() * (sizeof member_[0] + sizeof weight_[0]);
  }

  // The best candidate for a row that is not in `left_out`; no_member if there is none.
  [[nodiscard]] MemberIndex best(std::uint64_t row, std::span<const MemberIndex> left_out = {}) const;

  // The answers to many questions at once; answers[i] belongs to questions[i].
  void best(std::span<const RowQuestion> questions, std::span<MemberIndex> answers) const;

  // All candidates for a row, best first.
  [[nodiscard]] std::vector<MemberIndex> ranking(std::uint64_t row) const;

  // The standing of the i-th candidate. With all members as candidates, i is the member.
  [[nodiscard]] Standing standing(std::size_t i, std::uint64_t row) const {
    return standing_folded(i, row_fold_of(row));
  }

  // What the bounds of the i-th candidate are made of: reach.h.
  [[nodiscard]] std::uint64_t name_fold(std::size_t i) const { return name_fold_[i]; }
  [[nodiscard]] float inverse_weight(std::size_t i) const { return inverse_weight_[i]; }
  [[nodiscard]] const ReachVariant& reach() const { return reach_; }

 private:
  void add(std::uint64_t name_fold, std::uint32_t weight, MemberIndex member);
  void fill_up();
  [[nodiscard]] Standing standing_folded(std::size_t i, std::uint64_t row_fold) const {
    const std::uint64_t draw = mix_folded(name_fold_[i] ^ row_fold);
    return {.draw = draw, .distance = draw_distance(draw), .weight = weight_[i], .member = member_[i]};
  }
  void best_of_block(std::span<const RowQuestion> questions, std::span<MemberIndex> answers) const;
  [[nodiscard]] std::uint32_t candidate_of(MemberIndex member) const {
    return member < candidate_.size() ? candidate_[member] : nobody_leads;
  }
  const ReachVariant& reach_;
  std::uint32_t heaviest_ = 0;  // the largest weight
  // Parallel arrays, in name order. The first two are filled up with nobodies to whole blocks.
  std::vector<std::uint64_t> name_fold_;
  std::vector<float> inverse_weight_;
  std::vector<std::uint32_t> weight_;
  std::vector<MemberIndex> member_;
  std::vector<std::uint32_t> candidate_;  // by member; nobody_leads: takes no part
};

}  // namespace guideway
