// Replica list: the first distinct nodes of a walk, zones heeded.
// What: takes nodes as a walk meets them. With ZoneRule::spread a node of a zone that is already named waits until
//       every zone is, then those that wait follow in the order they were met.
// Why:  ring, rendezvous and Maglev walk differently, but choose alike.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

class ReplicaList {
 public:
  // The nodes must outlive this; `count` is at most their number.
  ReplicaList(std::span<const Node> nodes, std::size_t count, ZoneRule rule);

  // True when the list is full: the walk may end.
  bool offer(MemberIndex member);

  [[nodiscard]] std::vector<MemberIndex> take();

 private:
  [[nodiscard]] bool complete() const;

  std::size_t count_;
  std::size_t zones_wanted_ = 0;      // to be named before any is named twice
  std::vector<std::size_t> zone_of_;  // [nodes]; empty where zones are ignored
  std::vector<bool> zone_named_;      // [zones]
  std::vector<bool> met_;             // [nodes]
  std::vector<MemberIndex> named_, waiting_;
};

}  // namespace guideway
