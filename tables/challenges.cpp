#include "tables/challenges.h"

#include <utility>

namespace guideway {

Challenges::Challenges(const Rendezvous& everybody, std::vector<MemberIndex> newcomers)
    : everybody_(everybody), newcomers_(std::move(newcomers)) {}

void Challenges::settle(std::vector<std::uint32_t>& rows) {
  const ReachVariant& reach = everybody_.reach();
  const std::size_t padded = (size_ + reach_block - 1) / reach_block * reach_block;
  inverse_weight_.fill(1);
  reach.bounds(place_fold_.data(), inverse_weight_.data(), padded, 0, place_reach_.data());
  for (std::size_t i = 0; i < size_; ++i) {
    place_reach_[i] = reach_at_most(place_reach_[i]) * place_inverse_weight_[i];
  }
  for (const MemberIndex newcomer : newcomers_) {
    inverse_weight_.fill(everybody_.inverse_weight(newcomer));
    reach.bounds(row_fold_.data(), inverse_weight_.data(), padded, everybody_.name_fold(newcomer),
                 bound_.data());
    for (std::size_t i = 0; i < size_; ++i) {
      if (bound_[i] <= place_reach_[i]) [[unlikely]]
        rows.push_back(row_[i]);
    }
  }
  size_ = 0;
}

}  // namespace guideway
