#include "tables/rendezvous.h"

#include <algorithm>
#include <bit>

#include "tables/log2_table.h"
#include "tables/xxh3.h"

namespace guideway {
namespace {

// The largest 1 - u/2^64, in 2^-48 per unit of weight, at which a member can still reach the rank of `best`.
// ln 2 is 45426.1 / 2^16; rounding up keeps the bound on the safe side. The cap lets every draw pass and
// keeps reach * weight below 2^64.
std::uint64_t reach_of(const Standing& best) {
  constexpr std::uint64_t ln2_in_2_16 = 45427;
  return std::min(best.distance * ln2_in_2_16 / best.weight + 1, reach_everything);
}

}  // namespace

bool outranks(const Standing& a, const Standing& b) {
  // At most 2^38 * 65535: no overflow.
  const std::uint64_t a_rank = a.distance * b.weight, b_rank = b.distance * a.weight;
  if (a_rank != b_rank) return a_rank < b_rank;
  if (a.draw != b.draw) return a.draw > b.draw;
  return a.member < b.member;
}

std::uint64_t draw_distance(std::uint64_t draw) {
  const std::uint64_t x = draw | 1;
  const int exponent = 63 - std::countl_zero(x);
  const std::uint64_t mantissa = x << (63 - exponent);
  const std::uint64_t i = mantissa >> 53 & 1023;
  const std::uint64_t fraction = mantissa >> 21 & 0xffffffff;
  const std::uint64_t chord = (log2_table[i + 1] - log2_table[i]) * fraction >> 32;
  return (std::uint64_t{1} << 38) - ((static_cast<std::uint64_t>(exponent) << 32) + log2_table[i] + chord);
}

Rendezvous::Rendezvous(std::span<const Member> members, std::uint64_t seed,
                       const std::vector<bool>& takes_part)
    : find_in_reach_(fastest_find_in_reach()) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!takes_part.empty() && !takes_part[i]) continue;
    name_hash_.push_back(xxh3(members[i].name, seed + 3));
    weight_.push_back(members[i].weight);
    member_.push_back(static_cast<MemberIndex>(i));
  }
  const std::size_t padded = (size() + reach_block - 1) / reach_block * reach_block;
  name_hash_.resize(padded);
  weight_.resize(padded);
}

Standing Rendezvous::standing(std::size_t i, std::uint64_t row) const {
  return standing_of(i, mix(name_hash_[i] ^ mix(row)));
}

Standing Rendezvous::standing_of(std::size_t i, std::uint64_t draw) const {
  return {.draw = draw,
          .distance = draw_distance(draw),
          .weight = static_cast<std::uint32_t>(weight_[i]),
          .member = member_[i]};
}

MemberIndex Rendezvous::best(std::uint64_t row, std::span<const MemberIndex> left_out) const {
  const std::uint64_t row_mix = mix(row);
  const ReachCandidates candidates{name_hash_.data(), weight_.data(), name_hash_.size()};
  Standing best;
  std::uint64_t reach = reach_everything;
  for (std::size_t block = find_in_reach_(candidates, 0, row_mix, reach); block < candidates.count;
       block = find_in_reach_(candidates, block + reach_block, row_mix, reach)) {
    const std::size_t end = std::min(block + reach_block, size());
    for (std::size_t i = block; i < end; ++i) {
      const std::uint64_t draw = mix(name_hash_[i] ^ row_mix);
      if (~draw >> 16 > reach * weight_[i]) [[likely]]
        continue;
      if (std::find(left_out.begin(), left_out.end(), member_[i]) != left_out.end()) continue;
      const Standing candidate = standing_of(i, draw);
      if (best.member != no_member && !outranks(candidate, best)) continue;
      best = candidate;
      reach = reach_of(best);
    }
  }
  return best.member;
}

std::vector<MemberIndex> Rendezvous::ranking(std::uint64_t row) const {
  std::vector<Standing> standings(size());
  for (std::size_t i = 0; i < size(); ++i) standings[i] = standing(i, row);
  std::sort(standings.begin(), standings.end(), outranks);
  std::vector<MemberIndex> members(size());
  std::transform(standings.begin(), standings.end(), members.begin(),
                 [](const Standing& s) { return s.member; });
  return members;
}

}  // namespace guideway
