#include "tables/maglev.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace guideway {
namespace {

// The rounds of a member's turns, one after another: ceil(k * top / weight) for k = 1, 2, ... without a division each.
class RoundsOfTurns {
 public:
  RoundsOfTurns(std::uint32_t weight, std::uint32_t weight_top)
      : weight_(weight), whole_(weight_top / weight), rest_a_turn_(weight_top % weight) {}
  std::uint64_t next() {
    floor_ += whole_;
    rest_ += rest_a_turn_;
    if (rest_ >= weight_) rest_ -= weight_, ++floor_;
    return floor_ + (rest_ != 0 ? 1 : 0);
  }

 private:
  std::uint32_t weight_, whole_, rest_a_turn_;
  std::uint64_t floor_ = 0;
  std::uint32_t rest_ = 0;  // k * top - floor * weight
};

std::uint64_t round_of_last_turn(const Claim& claim, std::uint32_t weight_top) {
  return (std::uint64_t{claim.rows} * weight_top + claim.weight - 1) / claim.weight;
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

  [[nodiscard]] std::vector<std::uint32_t> list() const {
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        rows.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
    return rows;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Where a claim's walk stands: on the row after the one it took last.
struct Walker {
  Preference rest;  // the offset is that row
  MemberIndex member;
};

// The first free row of a walk. Two steps are tried side by side, as each has to wait for the one it starts from.
std::uint32_t walk_to_free(const FreeRows& free_rows, Preference walk, std::uint32_t row_count) {
  std::uint32_t row = walk.offset;
  if (free_rows.contains(row)) return row;
  std::uint32_t left = next_row(walk, row, row_count), right = next_row(walk, left, row_count);
  const Preference double_steps{.skip = next_row(walk, walk.skip, row_count)};
  for (;;) {
    if (free_rows.contains(left)) return left;
    if (free_rows.contains(right)) return right;
    left = next_row(double_steps, left, row_count);
    right = next_row(double_steps, right, row_count);
  }
}

// The same row, taken out of the list of all free ones.
std::uint32_t take_earliest(std::vector<std::uint32_t>& free_rows, Preference walk, std::uint32_t row_count) {
  const PreferencePosition position(walk, row_count);
  std::uint64_t earliest = std::uint64_t{0} - 1;  // position, index
  for (std::size_t i = 0; i < free_rows.size(); ++i) {
    earliest = std::min(earliest, std::uint64_t{position(free_rows[i])} << 32 | i);
  }
  const auto index = static_cast<std::uint32_t>(earliest);
  const std::uint32_t row = free_rows[index];
  free_rows[index] = free_rows.back();
  free_rows.pop_back();
  return row;
}

}  // namespace

std::vector<ClaimIndex> maglev_turns(std::span<const Claim> claims) {
  std::uint32_t weight_top = 0;
  for (const Claim& claim : claims) weight_top = std::max(weight_top, claim.weight);
  std::uint64_t rounds = 0;
  for (const Claim& claim : claims) rounds = std::max(rounds, round_of_last_turn(claim, weight_top));

  std::vector<std::uint32_t> first_of_round(rounds + 2);  // where the turns of a round begin
  for (const Claim& claim : claims) {
    RoundsOfTurns round(claim.weight, weight_top);
    for (std::uint32_t k = 0; k < claim.rows; ++k) ++first_of_round[round.next() + 1];
  }
  for (std::size_t round = 1; round < first_of_round.size(); ++round) {
    first_of_round[round] += first_of_round[round - 1];
  }

  std::vector<ClaimIndex> turns(first_of_round.back());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    RoundsOfTurns round(claims[i].weight, weight_top);
    for (std::uint32_t k = 0; k < claims[i].rows; ++k) {
      turns[first_of_round[round.next()]++] = static_cast<ClaimIndex>(i);
    }
  }
  return turns;
}

void maglev_deal(std::span<const Claim> claims, std::span<MemberIndex> holder) {
  const auto row_count = static_cast<std::uint32_t>(holder.size());
  std::vector<Walker> walkers;
  walkers.reserve(claims.size());
  for (const Claim& claim : claims) walkers.push_back({.rest = claim.preference, .member = claim.member});
  const auto seat = [&](Walker& walker, std::uint32_t row) {
    holder[row] = walker.member;
    walker.rest.offset = next_row(walker.rest, row, row_count);
  };

  const std::vector<ClaimIndex> turns = maglev_turns(claims);
  const auto few = static_cast<std::size_t>(std::sqrt(row_count));  // whatever it is, the rows are the same
  const std::size_t walked = turns.size() - std::min(few, turns.size());

  FreeRows free_rows(holder);
  for (std::size_t i = 0; i < walked; ++i) {
    Walker& walker = walkers[turns[i]];
    const std::uint32_t row = walk_to_free(free_rows, walker.rest, row_count);
    free_rows.take(row);
    seat(walker, row);
  }
  std::vector<std::uint32_t> last_rows = free_rows.list();
  for (std::size_t i = walked; i < turns.size(); ++i) {
    Walker& walker = walkers[turns[i]];
    seat(walker, take_earliest(last_rows, walker.rest, row_count));
  }
}

}  // namespace guideway
