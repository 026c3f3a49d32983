// Maglev: a table of a prime number of rows, built anew at every change (tables/maglev.h has the turns).
// What: nodes take turns, each takes the next free row of its own preference order; shares are exact to a row.
//       Replicas are the owners of the rows behind the key's.
// Why:  a look-up is one remainder and one load, whatever the number of nodes.
// Not:  stable: rows of nodes that stay change hands as well, a few in a hundred. deal.cpp is what mends that.
// Source: Eisenbud et al., Maglev, NSDI 2016.
#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/members_of_nodes.h"
#include "tables/algorithms/replica_list.h"
#include "tables/members.h"

namespace guideway {
namespace {

class MaglevPlacement final : public Placement {
 public:
  MaglevPlacement(PlacementRequest request, std::vector<MemberIndex> rows)
      : Placement(std::move(request)), rows_(std::move(rows)) {}

  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return rows_[key_hash % rows_.size()];
  }
  [[nodiscard]] std::span<const MemberIndex> rows() const override { return rows_; }
  [[nodiscard]] std::size_t bytes() const override { return rows_.size() * sizeof rows_[0]; }

 private:
  [[nodiscard]] std::vector<MemberIndex> pick_replicas(std::uint64_t key_hash, std::size_t count,
                                                       ZoneRule rule) const override {
    ReplicaList list(nodes(), count, rule);
    const std::size_t first = key_hash % rows_.size();
    for (std::size_t step = 0; step < rows_.size(); ++step) {  // a node may be without a row
      if (list.offer(rows_[(first + step) % rows_.size()])) break;
    }
    return list.take();
  }

  std::vector<MemberIndex> rows_;
};

Result<PlacementPtr> build_maglev(PlacementRequest request) {
  if (auto checked = check_row_count(request.options.rows); !checked) return tl::unexpected(checked.error());
  auto seating =
      deal(empty_seating(request.options.seed, request.options.rows), {}, members_of(request.nodes));
  if (!seating) return tl::unexpected(seating.error());
  return std::make_unique<MaglevPlacement>(std::move(request), std::move(seating->holder));
}

}  // namespace

constexpr Algorithm algorithm::maglev{
    .name = "maglev",
    .summary = "a table dealt in turns, each node by its own preference; built anew at every change",
    .source = "Eisenbud et al., Maglev, NSDI 2016; exact quotas for weights",
    .promises = {.pure = true,
                 .undoes = true,
                 .removes_any = true,
                 .honours_weights = true,
                 .replicas = true,
                 .keys_stand_alone = true},
    .peak_bound =
        [](std::size_t nodes, const PlacementOptions& options) {
          return 1 + static_cast<double>(nodes) / options.rows;
        },
    .build = build_maglev};

}  // namespace guideway
