#include "tables/algorithms/buckets.h"

#include <algorithm>
#include <iterator>

namespace guideway {

NodeChange change_of(std::span<const std::string> before, std::span<const Node> nodes) {
  std::vector<std::string> old, now;
  std::copy_if(before.begin(), before.end(), std::back_inserter(old),
               [](const std::string& name) { return name != no_node; });
  std::sort(old.begin(), old.end());
  for (const Node& node : nodes) now.push_back(node.name);
  NodeChange change;
  std::set_difference(old.begin(), old.end(), now.begin(), now.end(), std::back_inserter(change.gone));
  std::set_difference(now.begin(), now.end(), old.begin(), old.end(), std::back_inserter(change.come));
  return change;
}

std::vector<MemberIndex> members_in(std::span<const std::string> buckets, std::span<const Node> nodes) {
  std::vector<MemberIndex> members(buckets.size(), no_member);
  for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
    if (buckets[bucket] == no_node) continue;
    const auto found =
        std::lower_bound(nodes.begin(), nodes.end(), buckets[bucket],
                         [](const Node& node, const std::string& name) { return node.name < name; });
    members[bucket] = static_cast<MemberIndex>(found - nodes.begin());
  }
  return members;
}

}  // namespace guideway
