// Buckets: which node has which number, for the algorithms that know numbers only and remember who has one.
// What: who went and who came between two lists of names, and the members that hold the buckets.
// Why:  a number stays with its node as long as the node stays; jump, anchor and memento differ in what becomes of it
//       afterwards.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

inline constexpr std::string_view no_node{};  // of a bucket that nobody has

struct NodeChange {
  std::vector<std::string> gone, come;  // in byte order
};

// `before` holds a name per bucket, or no_node.
[[nodiscard]] NodeChange change_of(std::span<const std::string> before, std::span<const Node> nodes);

// The member of each bucket; no_member where nobody has it. The nodes stand in byte order of their names.
[[nodiscard]] std::vector<MemberIndex> members_in(std::span<const std::string> buckets,
                                                  std::span<const Node> nodes);

}  // namespace guideway
