#include "tables/quota.h"

#include <algorithm>
#include <numeric>

namespace guideway {

std::vector<std::uint32_t> quotas(std::span<const Member> members, std::uint32_t row_count) {
  std::uint64_t total = 0;
  for (const Member& member : members) total += member.weight;

  std::vector<std::uint32_t> quota(members.size());
  std::vector<std::uint64_t> remainder(members.size());
  std::uint64_t left = row_count;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::uint64_t share = std::uint64_t{row_count} * members[i].weight;
    quota[i] = static_cast<std::uint32_t>(share / total);
    remainder[i] = share % total;
    left -= quota[i];
  }
  if (left == 0 || members.empty()) return quota;

  // The remainders add up to left * total, so fewer rows are left than there are members.
  std::vector<std::uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    return remainder[a] != remainder[b] ? remainder[a] > remainder[b] : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(left), order.end(), larger);
  for (std::size_t i = 0; i < left; ++i) ++quota[order[i]];
  return quota;
}

}  // namespace guideway
