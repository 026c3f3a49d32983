#include "tables/algorithms/bounded_loads.h"

#include <fmt/format.h>

#include <numeric>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/virtual_nodes.h"

namespace guideway {

std::uint64_t load_cap(std::uint64_t keys, std::uint32_t weight, std::uint64_t weights,
                       std::uint32_t load_percent) {
  const std::uint64_t divisor = 100 * weights;
  return (keys * weight * load_percent + divisor - 1) / divisor;
}

std::uint64_t assign_bounded(const HashRing& ring, std::span<const Node> nodes, std::uint32_t load_percent,
                             std::span<const std::uint64_t> key_hashes, std::span<MemberIndex> owners) {
  const std::uint64_t weights =
      std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Node& node) { return sum + node.weight; });
  std::vector<std::uint64_t> room;  // the caps add up to all keys and more, so each key finds some
  for (const Node& node : nodes)
    room.push_back(load_cap(key_hashes.size(), node.weight, weights, load_percent));
  std::uint64_t probes = 0;
  for (std::size_t i = 0; i < key_hashes.size(); ++i) {
    std::size_t point = ring.successor(key_hashes[i]);
    for (++probes; room[ring.member(point)] == 0; ++probes) point = ring.next(point);
    owners[i] = ring.member(point);
    --room[owners[i]];
  }
  return probes;
}

namespace {

class BoundedLoadsPlacement final : public Placement {
 public:
  BoundedLoadsPlacement(PlacementRequest request, HashRing ring)
      : Placement(std::move(request)), ring_(std::move(ring)) {}

  // Of a key placed before all others.
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override { return ring_.owner(key_hash); }
  void assign(std::span<const std::uint64_t> key_hashes, std::span<MemberIndex> owners) const override {
    assign_bounded(ring_, nodes(), options().load_percent, key_hashes, owners);
  }
  [[nodiscard]] std::size_t bytes() const override {
    return ring_.bytes() + nodes().size() * sizeof(std::uint64_t);
  }

 private:
  HashRing ring_;
};

Result<PlacementPtr> build_bounded_loads(PlacementRequest request) {
  if (request.options.load_percent < 100 || request.options.load_percent > 10000) {
    return fail(ErrorKind::invalid,
                fmt::format("a load of at most {} percent of the fair share cannot be kept",
                            request.options.load_percent),
                {}, "choose from 100 to 10000; 125 is usual");
  }
  auto ring = virtual_nodes(request.nodes, request.options);
  if (!ring) return tl::unexpected(ring.error());
  return std::make_unique<BoundedLoadsPlacement>(std::move(request), std::move(*ring));
}

}  // namespace

constexpr Algorithm algorithm::bounded_loads{
    .name = "bounded-loads",
    .summary = "a ring on which a node that has c times its share hands on to the next",
    .source = "Mirrokni, Thorup and Zadimoghaddam, 2016",
    .promises = {.pure = true, .undoes = true, .removes_any = true, .honours_weights = true},
    .peak_bound = [](std::size_t, const PlacementOptions& options) { return options.load_percent / 100.0; },
    .build = build_bounded_loads};

}  // namespace guideway
