// Placement: what all algorithms share: the checks before one is built, and the questions that need no override.
#include <fmt/format.h>

#include <algorithm>

#include "guideway/algorithm.h"
#include "tables/members.h"
#include "tables/xxh3.h"

namespace guideway {
namespace {

Result<void> check_nodes(const Algorithm& algorithm, std::span<const Node> nodes) {
  if (nodes.empty()) {
    return fail(ErrorKind::invalid, "there are no backends to place on", {}, "name one at least");
  }
  std::vector<Member> members;
  for (const Node& node : nodes) members.push_back({node.name, node.weight});
  if (auto checked = check_members(members); !checked) return checked;
  if (algorithm.promises.honours_weights) return {};
  const auto other = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const Node& node) { return node.weight != nodes.front().weight; });
  if (other == nodes.end()) return {};
  return fail(ErrorKind::refused,
              fmt::format("{} has no weights, but backend {} has weight {} and {} has {}", algorithm.name,
                          nodes.front().name, nodes.front().weight, other->name, other->weight),
              {}, "give all the same, or use an algorithm with weights, such as rendezvous");
}

Result<PlacementPtr> build(const Algorithm& algorithm, std::vector<Node> nodes,
                           const PlacementOptions& options, const Placement* before) {
  std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.name < b.name; });
  if (auto checked = check_nodes(algorithm, nodes); !checked) return tl::unexpected(checked.error());
  return algorithm.build(
      {.algorithm = algorithm, .nodes = std::move(nodes), .options = options, .before = before});
}

}  // namespace

std::uint64_t Placement::hash(std::string_view key) const { return xxh3(key, options().seed); }

void Placement::assign(std::span<const std::uint64_t> key_hashes, std::span<MemberIndex> owners) const {
  std::transform(key_hashes.begin(), key_hashes.end(), owners.begin(),
                 [this](std::uint64_t key_hash) { return owner(key_hash); });
}

std::vector<MemberIndex> Placement::pick_replicas(std::uint64_t key_hash, std::size_t, ZoneRule) const {
  return {owner(key_hash)};
}

Result<PlacementPtr> place(const Algorithm& algorithm, std::vector<Node> nodes,
                           const PlacementOptions& options) {
  return build(algorithm, std::move(nodes), options, nullptr);
}

Result<PlacementPtr> place_after(const Placement& before, std::vector<Node> nodes) {
  return build(before.algorithm(), std::move(nodes), before.options(), &before);
}

Result<std::vector<MemberIndex>> replicas(const Placement& placement, std::uint64_t key_hash,
                                          std::size_t count, ZoneRule rule) {
  if (!placement.algorithm().promises.replicas) {
    return fail(ErrorKind::refused, fmt::format("{} names one backend a key", placement.algorithm().name), {},
                "use an algorithm with replicas, such as rendezvous");
  }
  return placement.pick_replicas(key_hash, std::min(count, placement.nodes().size()), rule);
}

std::vector<MemberIndex> nodes_without_rows(const Placement& placement) {
  if (placement.rows().empty()) return {};
  std::vector<bool> has_row(placement.nodes().size());
  for (const MemberIndex owner : placement.rows()) has_row[owner] = true;
  std::vector<MemberIndex> without;
  for (std::size_t i = 0; i < has_row.size(); ++i) {
    if (!has_row[i]) without.push_back(static_cast<MemberIndex>(i));
  }
  return without;
}

}  // namespace guideway
