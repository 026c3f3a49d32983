#include "tables/algorithms/jump.h"

#include <fmt/format.h>

#include <algorithm>

#include "tables/algorithms/algorithms.h"
#include "tables/algorithms/buckets.h"

namespace guideway {

std::uint32_t jump_bucket(std::uint64_t key, std::uint32_t buckets) {
  constexpr double draws = 2147483648.0;  // 2^31: the upper bits of a draw
  double reached = 0;                     // the number of buckets at which the key jumps next
  std::uint32_t bucket = 0;
  while (reached < buckets) {
    bucket = static_cast<std::uint32_t>(reached);
    key = key * 2862933555777941757 + 1;  // the paper's generator
    reached = static_cast<double>(static_cast<std::uint64_t>(bucket) + 1) *
              (draws / static_cast<double>((key >> 33) + 1));
  }
  return bucket;
}

namespace {

class JumpPlacement final : public Placement {
 public:
  JumpPlacement(PlacementRequest request, std::vector<std::string> arrivals)
      : Placement(std::move(request)),
        arrivals_(std::move(arrivals)),
        member_(members_in(arrivals_, nodes())) {}

  [[nodiscard]] const std::vector<std::string>& arrivals() const { return arrivals_; }
  [[nodiscard]] MemberIndex owner(std::uint64_t key_hash) const override {
    return member_[jump_bucket(key_hash, static_cast<std::uint32_t>(member_.size()))];
  }
  [[nodiscard]] std::size_t bytes() const override { return member_.size() * sizeof member_[0]; }

 private:
  std::vector<std::string> arrivals_;  // by bucket
  std::vector<MemberIndex> member_;    // [buckets]
};

Result<PlacementPtr> build_jump(PlacementRequest request) {
  std::vector<std::string> arrivals;
  if (const auto* before = dynamic_cast<const JumpPlacement*>(request.before)) arrivals = before->arrivals();
  const NodeChange change = change_of(arrivals, request.nodes);
  const std::size_t staying = arrivals.size() - change.gone.size();
  for (std::size_t bucket = 0; bucket < staying; ++bucket) {
    const std::string& name = arrivals[bucket];
    if (std::find(change.gone.begin(), change.gone.end(), name) == change.gone.end()) continue;
    return fail(
        ErrorKind::refused,
        fmt::format("jump can only lose the backend that came last, {}, not {}", arrivals.back(), name), {},
        "remove the later ones first, or use memento, which jumps and forgets");
  }
  arrivals.resize(staying);
  arrivals.insert(arrivals.end(), change.come.begin(), change.come.end());
  return std::make_unique<JumpPlacement>(std::move(request), std::move(arrivals));
}

}  // namespace

constexpr Algorithm algorithm::jump{.name = "jump",
                                    .summary = "no table at all; only the node that came last may go",
                                    .source = "Lamping and Veach, 2014",
                                    .promises = {.undoes = true,
                                                 .monotone_on_add = true,
                                                 .minimal_on_removal = true,
                                                 .keys_stand_alone = true},
                                    .peak_bound = [](std::size_t, const PlacementOptions&) { return 1.0; },
                                    .build = build_jump};

}  // namespace guideway
