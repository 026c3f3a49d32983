// Maglev: who takes the free rows, and in which order (contract 1, item 3c).
// What: members take turns in rounds; a member of weight w has its k-th turn in round ceil(k * max(w) / w),
//       within a round in name order; at a turn it takes the next free row of its own preference order.
// Why:  every member gets rows it likes early, so two tables over nearly the same members agree in most rows.
// How:  the rounds are never played. Turns are counted per round and laid out by prefix sums, so a round in
//       which nobody has credit costs one addition. There are at most M + weight_max of them, because nobody
//       lacks more than its share M * w / sum(w) and one row.
//       While many rows are free, a member walks along its order to the next one: M / F probes of a bitmap for F
//       free rows. The last sqrt(M) rows would cost half of all probes; for them the way round is shorter, to ask
//       at which step of the walk each free row comes (preference.h) and to take the earliest.
// Cost: about M * ln(M) / 2 probes from nothing, and sqrt(M) times sqrt(M) / 2 steps computed; bench/README.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "guideway/placement.h"
#include "tables/preference.h"

namespace guideway {

// A member below its quota.
struct Claim {
  MemberIndex member = no_member;
  std::uint32_t weight = 1;
  std::uint32_t rows = 1;  // how many it lacks, at least 1
  Preference preference;
};

using ClaimIndex = MemberIndex;  // there are no more claims than members

// The order of all turns, as indices into `claims` (which stand in name order).
[[nodiscard]] std::vector<ClaimIndex> maglev_turns(std::span<const Claim> claims);

// Gives every row of `holder` that has none to a claim. The claims ask for exactly the rows that are free.
void maglev_deal(std::span<const Claim> claims, std::span<MemberIndex> holder);

}  // namespace guideway
