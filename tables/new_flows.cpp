// New flows: which members of a pool take them (contract 1, item 5).
#include <algorithm>

#include "guideway/rows.h"

namespace guideway {
namespace {

// Less than `panic` of `active`? The share is read in billionths: a share written with up to nine decimals is
// met exactly, where a product of doubles would miss some by its rounding.
bool below_share(std::uint64_t healthy, std::uint64_t active, double panic) {
  constexpr std::uint64_t billion = 1'000'000'000;
  const auto share = static_cast<std::uint64_t>(std::clamp(panic, 0.0, 1.0) * 1e9 + 0.5);
  return healthy * billion < active * share;  // a pool's weight is below 2^32
}

}  // namespace

std::vector<bool> takes_new_flows(std::span<const Member> members, std::span<const MemberStatus> status,
                                  const HopRules& rules) {
  std::uint64_t active_weight = 0, healthy_weight = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (status[i].state != BackendState::active) continue;
    active_weight += members[i].weight;
    if (status[i].health != Health::down) healthy_weight += members[i].weight;
  }
  const bool ignore_health = healthy_weight == 0 || below_share(healthy_weight, active_weight, rules.panic);

  std::vector<bool> takes(members.size());
  if (ignore_health && rules.none_healthy == NoneHealthy::drop) return takes;
  for (std::size_t i = 0; i < members.size(); ++i) {
    takes[i] = status[i].state == BackendState::active && (ignore_health || status[i].health != Health::down);
  }
  return takes;
}

}  // namespace guideway
