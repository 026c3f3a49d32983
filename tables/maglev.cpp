#include "tables/maglev.h"

#include <algorithm>

namespace guideway {
namespace {

// The round of a member's k-th turn, k from 1.
std::uint64_t round_of_turn(std::uint64_t k, std::uint32_t weight, std::uint32_t weight_top) {
  return (k * weight_top + weight - 1) / weight;
}

// The rows that nobody holds, a bit a row: the bitmap of 65,537 rows stays in the first-level cache.
class FreeRows {
 public:
  explicit FreeRows(std::span<const MemberIndex> holder) : words_((holder.size() + 63) / 64) {
    for (std::size_t row = 0; row < holder.size(); ++row) {
      words_[row / 64] |= std::uint64_t{holder[row] == no_member} << (row % 64);
    }
  }
  [[nodiscard]] bool contains(std::uint32_t row) const { return (words_[row / 64] >> (row % 64) & 1) != 0; }
  void take(std::uint32_t row) { words_[row / 64] &= ~(std::uint64_t{1} << (row % 64)); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

std::vector<std::uint32_t> maglev_turns(std::span<const Claim> claims) {
  std::uint32_t weight_top = 0;
  for (const Claim& claim : claims) weight_top = std::max(weight_top, claim.weight);
  std::uint64_t rounds = 0;
  for (const Claim& claim : claims) {
    rounds = std::max(rounds, round_of_turn(claim.rows, claim.weight, weight_top));
  }

  std::vector<std::uint32_t> first_of_round(rounds + 2);  // where the turns of a round begin
  for (const Claim& claim : claims) {
    for (std::uint32_t k = 1; k <= claim.rows; ++k) {
      ++first_of_round[round_of_turn(k, claim.weight, weight_top) + 1];
    }
  }
  for (std::size_t round = 1; round < first_of_round.size(); ++round) {
    first_of_round[round] += first_of_round[round - 1];
  }

  std::vector<std::uint32_t> turns(first_of_round.back());
  for (std::uint32_t i = 0; i < claims.size(); ++i) {
    for (std::uint32_t k = 1; k <= claims[i].rows; ++k) {
      turns[first_of_round[round_of_turn(k, claims[i].weight, weight_top)]++] = i;
    }
  }
  return turns;
}

void maglev_deal(std::span<const Claim> claims, std::span<MemberIndex> holder) {
  const auto row_count = static_cast<std::uint32_t>(holder.size());
  FreeRows free_rows(holder);
  std::vector<std::uint32_t> next(claims.size());  // where each claim's walk stands
  for (std::size_t i = 0; i < claims.size(); ++i) next[i] = claims[i].preference.offset;

  for (const std::uint32_t turn : maglev_turns(claims)) {
    const Claim& claim = claims[turn];
    std::uint32_t row = next[turn];
    while (!free_rows.contains(row)) row = next_row(claim.preference, row, row_count);
    free_rows.take(row);
    holder[row] = claim.member;
    next[turn] = next_row(claim.preference, row, row_count);
  }
}

}  // namespace guideway
