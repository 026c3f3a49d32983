#include "tables/algorithms/ketama.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/balance.h"
#include "tables/algorithms/md5.h"

namespace guideway {

std::vector<std::uint32_t> ketama_digests(std::span<const Node> nodes) {
  const std::uint64_t weights =
      std::accumulate(nodes.begin(), nodes.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Node& node) { return sum + node.weight; });
  std::vector<std::uint32_t> digests(nodes.size());
  std::transform(nodes.begin(), nodes.end(), digests.begin(), [&](const Node& node) {
    return static_cast<std::uint32_t>(std::uint64_t{node.weight} * 40 * nodes.size() / weights);
  });
  return digests;
}

std::array<std::uint32_t, 4> ketama_points(std::string_view name, std::uint32_t k) {
  const Md5Digest digest = md5(fmt::format("{}-{}", name, k));
  return {md5_word_le(digest, 0), md5_word_le(digest, 4), md5_word_le(digest, 8), md5_word_le(digest, 12)};
}

HashRing ketama_ring(std::span<const Node> nodes) {
  const std::vector<std::uint32_t> digests = ketama_digests(nodes);
  std::vector<RingPoint> points;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t k = 0; k < digests[i]; ++k) {
      for (const std::uint32_t at : ketama_points(nodes[i].name, k)) {
        points.push_back({.at = at, .member = static_cast<MemberIndex>(i)});
      }
    }
  }
  return HashRing(std::move(points));
}

namespace {

class KetamaPlacement final : public Placement {
 public:
  explicit KetamaPlacement(PlacementRequest request)
      : Placement(std::move(request)), ring_(ketama_ring(nodes())) {}

  [[nodiscard]] std::uint64_t hash(std::string_view key) const override { return md5_word_le(md5(key), 0); }
  // The circle has 32 bits.
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return ring_.owner(static_cast<std::uint32_t>(key_hash));
  }
  [[nodiscard]] std::size_t bytes() const override { return ring_.bytes(); }

 private:
  HashRing ring_;
};

}  // namespace

constexpr Algorithm algorithm::ketama{
    .name = "ketama",
    .summary = "the memcached clients' ring: 160 MD5 points a node, scaled by its share",
    .source = "libketama, 2007",
    .promises = {.pure = true,
                 .undoes = true,
                 .removes_any = true,
                 .honours_weights = true,
                 .keys_stand_alone = true},
    .peak_bound = [](std::size_t nodes, const PlacementOptions&) { return peak_of_gaps(nodes, 160); },
    .build = [](PlacementRequest request) -> Result<PlacementPtr> {
      return std::make_unique<KetamaPlacement>(std::move(request));
    }};

}  // namespace guideway
