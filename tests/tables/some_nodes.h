// Some nodes: random backends, keys and placements, for property tests over the registry.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "guideway/algorithm.h"

namespace guideway {

inline void showValue(const Node& node, std::ostream& out) {
  out << node.name << '*' << node.weight << '@' << node.zone;
}

// Small enough for a hundred cases a property; rows are still many per node.
inline PlacementOptions some_options() {
  return {.seed = *rc::gen::arbitrary<std::uint64_t>(),
          .rows = *rc::gen::element(509U, 1021U),
          .points = *rc::gen::element(20U, 50U)};
}

// Of distinct names; of unequal weights only where the algorithm honours them.
inline std::vector<Node> some_nodes(const Algorithm& algorithm, std::size_t least, bool equal = false) {
  const auto numbers =
      *rc::gen::suchThat(rc::gen::unique<std::vector<int>>(rc::gen::resize(100, rc::gen::inRange(0, 1000))),
                         [&](const std::vector<int>& v) { return v.size() >= least && v.size() <= 20; });
  const bool weighted = algorithm.promises.honours_weights && !equal;
  const std::uint32_t common = *rc::gen::element(100U, 300U);
  std::vector<Node> nodes;
  for (const int number : numbers) {
    nodes.push_back({.name = "b" + std::to_string(number),
                     .weight = weighted ? *rc::gen::element(100U, 100U, 50U, 130U, 400U) : common,
                     .zone = *rc::gen::element<std::string>("", "red", "green", "blue")});
  }
  return nodes;
}

inline std::vector<std::uint64_t> some_keys(std::size_t count) {
  std::uint64_t state = *rc::gen::arbitrary<std::uint64_t>();
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t& key : keys) {  // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    key = z ^ z >> 31;
  }
  return keys;
}

inline std::vector<MemberIndex> owners_of(const Placement& placement,
                                          const std::vector<std::uint64_t>& keys) {
  std::vector<MemberIndex> owners(keys.size(), no_member);
  placement.assign(keys, owners);
  return owners;
}

inline std::vector<std::string> names_of_owners(const Placement& placement,
                                                const std::vector<std::uint64_t>& keys) {
  std::vector<std::string> names;
  for (const MemberIndex owner : owners_of(placement, keys)) names.push_back(placement.nodes()[owner].name);
  return names;
}

}  // namespace guideway
