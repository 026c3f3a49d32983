#include "tables/algorithms/glb_rows.h"

#include <fmt/format.h>
#include <sodium/crypto_shorthash_siphash24.h>

#include <algorithm>
#include <bit>

#include "guideway/address.h"
#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/balance.h"
#include "tables/algorithms/replica_list.h"
#include "tables/mix.h"

namespace guideway {
namespace {

constexpr std::uint32_t glb_row_count = 65536;

std::uint64_t big_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

SipDigest siphash(const SipKey& key, std::span<const std::uint8_t> bytes) {
  SipDigest digest{};
  crypto_shorthash_siphash24(digest.data(), bytes.data(), bytes.size(), key.data());
  return digest;
}

SipDigest glb_row_seed(const SipKey& seed, std::uint32_t row) {
  const std::array<std::uint8_t, 4> number{
      static_cast<std::uint8_t>(row >> 24), static_cast<std::uint8_t>(row >> 16),
      static_cast<std::uint8_t>(row >> 8), static_cast<std::uint8_t>(row)};
  return siphash(seed, number);
}

std::vector<std::uint8_t> glb_identity(std::string_view name) {
  const auto address = IpAddress::parse(name);
  if (!address) return {name.begin(), name.end()};
  return {address->view().begin(), address->view().end()};
}

std::uint64_t glb_score(const SipKey& seed, const SipDigest& row_seed,
                        std::span<const std::uint8_t> identity) {
  std::array<std::uint8_t, 8 + 64> input{};
  std::copy(row_seed.begin(), row_seed.end(), input.begin());
  std::copy(identity.begin(), identity.end(), input.begin() + row_seed.size());
  return big_endian(siphash(seed, {input.data(), row_seed.size() + identity.size()}));
}

namespace {

// The sixteen bytes of glb's seed, drawn from ours.
SipKey sip_key(std::uint64_t seed) {
  SipKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<std::uint8_t>((i < 8 ? seed : mix(seed)) >> 8 * (7 - i % 8));
  }
  return key;
}

// About ten seconds of hashing.
constexpr std::uint64_t scores_max = std::uint64_t{1} << 28;

class GlbPlacement final : public Placement {
 public:
  explicit GlbPlacement(PlacementRequest request)
      : Placement(std::move(request)), key_(sip_key(options().seed)), first_(row_count(options())) {
    for (const Node& node : nodes()) identities_.push_back(glb_identity(node.name));
    for (std::uint32_t row = 0; row < first_.size(); ++row) first_[row] = best(row);
  }

  // The table has 65,536 rows, or the power of two that fits into the rows asked for, where those are fewer.
  static std::uint32_t row_count(const PlacementOptions& options) {
    return std::min(glb_row_count, std::bit_floor(std::max(1U, options.rows)));
  }

  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return first_[key_hash % first_.size()];
  }
  [[nodiscard]] std::span<const MemberIndex> rows() const override { return first_; }
  [[nodiscard]] std::size_t bytes() const override { return first_.size() * sizeof first_[0]; }

 private:
  [[nodiscard]] std::uint64_t score(const SipDigest& row_seed, std::size_t node) const {
    return glb_score(key_, row_seed, identities_[node]);
  }

  [[nodiscard]] MemberIndex best(std::uint32_t row) const {
    const SipDigest row_seed = glb_row_seed(key_, row);
    std::size_t best = 0;
    std::uint64_t least = score(row_seed, 0);
    for (std::size_t node = 1; node < identities_.size(); ++node) {
      const std::uint64_t own = score(row_seed, node);
      if (own < least) least = own, best = node;
    }
    return static_cast<MemberIndex>(best);
  }

  [[nodiscard]] std::vector<MemberIndex> pick_replicas(std::uint64_t key_hash, std::size_t count,
                                                       ZoneRule rule) const override {
    const SipDigest row_seed = glb_row_seed(key_, static_cast<std::uint32_t>(key_hash % first_.size()));
    std::vector<std::pair<std::uint64_t, MemberIndex>> order;
    for (std::size_t node = 0; node < identities_.size(); ++node) {
      order.emplace_back(score(row_seed, node), static_cast<MemberIndex>(node));
    }
    std::sort(order.begin(), order.end());
    ReplicaList list(nodes(), count, rule);
    for (const auto& [own, member] : order) {
      if (list.offer(member)) break;
    }
    return list.take();
  }

  SipKey key_;
  std::vector<std::vector<std::uint8_t>> identities_;
  std::vector<MemberIndex> first_;
};

}  // namespace

constexpr Algorithm algorithm::glb_rows{
    .name = "glb-rows",
    .summary = "65,536 rows, each scored for every node; the best two are its hops",
    .source = "glb-director's forwarding table",
    .promises = {.pure = true,
                 .undoes = true,
                 .monotone_on_add = true,
                 .minimal_on_removal = true,
                 .removes_any = true,
                 .replicas = true,
                 .keys_stand_alone = true},
    .peak_bound =
        [](std::size_t nodes, const PlacementOptions& options) {
          return peak_of_counts(
              nodes, static_cast<double>(GlbPlacement::row_count(options)) / static_cast<double>(nodes));
        },
    .build = [](PlacementRequest request) -> Result<PlacementPtr> {
      const std::uint64_t rows = GlbPlacement::row_count(request.options);
      if (rows * request.nodes.size() > scores_max) {
        return fail(
            ErrorKind::invalid,
            fmt::format("glb-rows scores every node in every row: {} of them in {} rows take too long",
                        request.nodes.size(), rows),
            {}, fmt::format("use {} nodes at most, or fewer rows", scores_max / rows));
      }
      return std::make_unique<GlbPlacement>(std::move(request));
    }};

}  // namespace guideway
