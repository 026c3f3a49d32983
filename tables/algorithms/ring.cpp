// Ring: consistent hashing with virtual nodes.
// What: hash_ring.h over the points of virtual_nodes.h; replicas are the next distinct nodes clockwise.
// Cost: shares scatter by about 1 / sqrt(points): a hundred points a node leave 10 %.
#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/balance.h"
#include "tables/algorithms/replica_list.h"
#include "tables/algorithms/virtual_nodes.h"

namespace guideway {
namespace {

class RingPlacement final : public Placement {
 public:
  RingPlacement(PlacementRequest request, HashRing ring)
      : Placement(std::move(request)), ring_(std::move(ring)) {}

  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override { return ring_.owner(key_hash); }
  [[nodiscard]] std::size_t bytes() const override { return ring_.bytes(); }

 private:
  [[nodiscard]] std::vector<MemberIndex> pick_replicas(std::uint64_t key_hash, std::size_t count,
                                                       ZoneRule rule) const override {
    ReplicaList list(nodes(), count, rule);
    std::size_t point = ring_.successor(key_hash);
    while (!list.offer(ring_.member(point))) point = ring_.next(point);
    return list.take();
  }

  HashRing ring_;
};

Result<PlacementPtr> build_ring(PlacementRequest request) {
  auto ring = virtual_nodes(request.nodes, request.options);
  if (!ring) return tl::unexpected(ring.error());
  return std::make_unique<RingPlacement>(std::move(request), std::move(*ring));
}

}  // namespace

constexpr Algorithm algorithm::ring{
    .name = "ring",
    .summary = "points of each node on a circle; a key goes to the next one clockwise",
    .source = "Karger et al., Consistent Hashing and Random Trees, 1997",
    .promises = {.pure = true,
                 .undoes = true,
                 .monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .honours_weights = true,
                 .replicas = true,
                 .keys_stand_alone = true},
    .peak_bound = [](std::size_t nodes,
                     const PlacementOptions& options) { return peak_of_gaps(nodes, options.points); },
    .build = build_ring};

}  // namespace guideway
