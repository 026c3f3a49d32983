// Guideway: the router's own rule, Maglev's table dealt on from the seats there are (tables/deal.cpp).
// What: shares are exact to a row after every change, and a change moves no row that its quotas do not demand.
//       A node that comes and goes gives each row back to whom it had it from.
//       Replicas are the seat holder and then the ranking of the row.
// Cost: the seating is state: directors must carry it, or start from the same one.
#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/members_of_nodes.h"
#include "tables/algorithms/replica_list.h"
#include "tables/members.h"

namespace guideway {
namespace {

class GuidewayPlacement final : public Placement {
 public:
  GuidewayPlacement(PlacementRequest request, Seating seating)
      : Placement(std::move(request)), seating_(std::move(seating)) {}

  [[nodiscard]] const Seating& seating() const { return seating_; }

  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return seating_.holder[key_hash % seating_.row_count];
  }
  [[nodiscard]] std::span<const MemberIndex> rows() const override { return seating_.holder; }
  [[nodiscard]] std::size_t bytes() const override { return seating_.holder.size() * sizeof(MemberIndex); }

 private:
  [[nodiscard]] std::vector<MemberIndex> pick_replicas(std::uint64_t key_hash, std::size_t count,
                                                       ZoneRule rule) const override {
    ReplicaList list(nodes(), count, rule);
    const auto row = static_cast<std::uint32_t>(key_hash % seating_.row_count);
    if (list.offer(seating_.holder[row])) return list.take();
    for (const MemberIndex member : ranking(seating_, row)) {
      if (list.offer(member)) break;
    }
    return list.take();
  }

  Seating seating_;
};

Result<PlacementPtr> build_guideway(PlacementRequest request) {
  if (auto checked = check_row_count(request.options.rows); !checked) return tl::unexpected(checked.error());
  Seating before = empty_seating(request.options.seed, request.options.rows);
  if (const auto* last = dynamic_cast<const GuidewayPlacement*>(request.before)) before = last->seating();
  const std::vector<BackendState> states(before.members.size(), BackendState::active);
  auto seating = deal(before, states, members_of(request.nodes));
  if (!seating) return tl::unexpected(seating.error());
  return std::make_unique<GuidewayPlacement>(std::move(request), std::move(*seating));
}

}  // namespace

constexpr Algorithm algorithm::guideway{
    .name = "guideway",
    .summary = "Maglev's table, dealt on from the seats there are: exact shares, no needless move",
    .source = "routing contract 1, item 3",
    .promises = {.undoes = true,
                 .monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .honours_weights = true,
                 .replicas = true,
                 .keys_stand_alone = true},
    .peak_bound =
        [](std::size_t nodes, const PlacementOptions& options) {
          return 1 + static_cast<double>(nodes) / options.rows;
        },
    .build = build_guideway};

}  // namespace guideway
