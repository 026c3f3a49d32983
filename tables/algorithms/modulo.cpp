// Modulo: the hash modulo the number of nodes, in name order.
// Why:  the yardstick: perfectly even, and nearly every key moves when the number changes (n of n + 1).
#include "tables/algorithms/algorithms.h"

namespace guideway {
namespace {

class ModuloPlacement final : public Placement {
 public:
  explicit ModuloPlacement(PlacementRequest request) : Placement(std::move(request)) {}
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return static_cast<MemberIndex>(key_hash % nodes().size());
  }
  [[nodiscard]] std::size_t bytes() const override { return sizeof(std::uint32_t); }
};

}  // namespace

constexpr Algorithm algorithm::modulo{
    .name = "modulo",
    .summary = "hash modulo the number of nodes; a change moves nearly all keys",
    .source = "folklore",
    .promises = {.pure = true, .undoes = true, .removes_any = true, .keys_stand_alone = true},
    .peak_bound = [](std::size_t, const PlacementOptions&) { return 1.0; },
    .build = [](PlacementRequest request) -> Result<PlacementPtr> {
      return std::make_unique<ModuloPlacement>(std::move(request));
    }};

}  // namespace guideway
