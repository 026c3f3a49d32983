// Challenges: newcomers against the members that hold a place by their rank, many rows at a time.
// What: remembers (row, member in place) pairs and tells in which of these rows a newcomer may outrank that member.
// Why:  when a member comes back, any row may be its own; nearly none is. Two sweeps of reach.h over a batch of rows say
//       so in a fraction of the time that a look at each row would take.
// Not:  a decision: the rows named are to be worked out anew.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tables/rendezvous.h"

namespace guideway {

class Challenges {
 public:
  static constexpr std::size_t batch = 512;  // its arrays, 22 KiB, stay in the first-level cache
  static_assert(batch % reach_block == 0);

  // `everybody` has all members as candidates and must outlive this.
  Challenges(const Rendezvous& everybody, std::vector<MemberIndex> newcomers);

  [[nodiscard]] bool has_newcomers() const { return !newcomers_.empty(); }
  [[nodiscard]] bool full() const { return size_ == batch; }

  // Not when full.
  void add(std::uint32_t row, MemberIndex in_place) {
    row_[size_] = row;
    in_place_[size_++] = in_place;
  }

  // Appends the rows where a newcomer may outrank who is in place (a row may come twice), and forgets all pairs.
  void settle(std::vector<std::uint32_t>& rows);

 private:
  const Rendezvous& everybody_;
  std::vector<MemberIndex> newcomers_;
  std::size_t size_ = 0;
  std::array<std::uint32_t, batch> row_{};
  std::array<MemberIndex, batch> in_place_{};
  std::array<std::uint64_t, batch> row_fold_{}, place_fold_{};
  std::array<std::uint16_t, batch> found_{};
  std::array<float, batch> place_inverse_weight_{}, place_reach_{}, bound_{}, inverse_weight_{}, ones_{};
};

}  // namespace guideway
