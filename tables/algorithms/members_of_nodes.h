// Members of nodes: what the deal and the ranking know of a node.
#pragma once

#include <span>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

[[nodiscard]] inline std::vector<Member> members_of(std::span<const Node> nodes) {
  std::vector<Member> members;
  members.reserve(nodes.size());
  for (const Node& node : nodes) members.push_back({node.name, node.weight});
  return members;
}

}  // namespace guideway
