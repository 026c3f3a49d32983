// Hash ring: points on a circle, each of a node; a key belongs to the first point at or behind it.
// Why:  a node that comes takes only the arcs before its points, one that goes leaves only its own.
// How:  points sorted, binary search, behind the last one the first again. Where two nodes share a point, the
//       earlier name has it.
// Cost: 10 bytes a point; log2(points) + 1 comparisons a look-up.
// Source: Karger et al., Consistent Hashing and Random Trees, 1997.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "guideway/placement.h"

namespace guideway {

struct RingPoint {
  std::uint64_t at = 0;
  MemberIndex member = no_member;
};

class HashRing {
 public:
  HashRing() = default;
  explicit HashRing(std::vector<RingPoint> points);

  [[nodiscard]] std::size_t size() const { return at_.size(); }
  [[nodiscard]] std::uint64_t at(std::size_t point) const { return at_[point]; }
  [[nodiscard]] MemberIndex member(std::size_t point) const { return member_[point]; }
  [[nodiscard]] std::size_t bytes() const { return at_.size() * (sizeof at_[0] + sizeof member_[0]); }

  // The first point at or behind `position`, around the end if need be. The ring is not empty.
  [[nodiscard]] std::size_t successor(std::uint64_t position) const;
  // The next point clockwise.
  [[nodiscard]] std::size_t next(std::size_t point) const { return point + 1 == size() ? 0 : point + 1; }
  [[nodiscard]] MemberIndex owner(std::uint64_t position) const { return member_[successor(position)]; }

 private:
  std::vector<std::uint64_t> at_;  // ascending
  std::vector<MemberIndex> member_;
};

}  // namespace guideway
