// Rendezvous: every node draws for every key, the best draw per weight owns it (tables/rendezvous.h).
// What: replicas are the next best. A node that comes wins keys from all, one that goes leaves its own to all.
// Cost: a look-up asks every node; memory is a few bytes a node.
#include "tables/rendezvous.h"

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/members_of_nodes.h"
#include "tables/algorithms/replica_list.h"

namespace guideway {
namespace {

class RendezvousPlacement final : public Placement {
 public:
  explicit RendezvousPlacement(PlacementRequest request)
      : Placement(std::move(request)), rendezvous_(members_of(nodes()), options().seed) {}

  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return rendezvous_.best(key_hash);
  }
  [[nodiscard]] std::size_t bytes() const override { return rendezvous_.bytes(); }

 private:
  [[nodiscard]] std::vector<MemberIndex> pick_replicas(std::uint64_t key_hash, std::size_t count,
                                                       ZoneRule rule) const override {
    ReplicaList list(nodes(), count, rule);
    for (const MemberIndex member : rendezvous_.ranking(key_hash)) {
      if (list.offer(member)) break;
    }
    return list.take();
  }

  Rendezvous rendezvous_;
};

}  // namespace

constexpr Algorithm algorithm::rendezvous{
    .name = "rendezvous",
    .summary = "every node draws for the key, weighted; the best draw owns it",
    .source = "Thaler and Ravishankar, 1996; weights by -log(u)/w in integers",
    .promises = {.pure = true,
                 .undoes = true,
                 .monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .honours_weights = true,
                 .replicas = true,
                 .keys_stand_alone = true},
    .peak_bound = [](std::size_t, const PlacementOptions&) { return 1.0; },
    .build = [](PlacementRequest request) -> Result<PlacementPtr> {
      return std::make_unique<RendezvousPlacement>(std::move(request));
    }};

}  // namespace guideway
