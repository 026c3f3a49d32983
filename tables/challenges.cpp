#include "tables/challenges.h"

#include <utility>

namespace guideway {

Challenges::Challenges(const Rendezvous& everybody, std::vector<MemberIndex> newcomers)
    : everybody_(everybody), newcomers_(std::move(newcomers)) {
  ones_.fill(1);
}

void Challenges::settle(std::vector<std::uint32_t>& rows) {
  const ReachVariant& reach = everybody_.reach();
  const std::size_t padded = (size_ + reach_block - 1) / reach_block * reach_block;
  for (std::size_t i = 0, size = size_; i < size; ++i) {
    const std::uint64_t row_fold = row_fold_of(row_[i]);
    row_fold_[i] = row_fold;
    place_fold_[i] = row_fold ^ everybody_.name_fold(in_place_[i]);
    place_inverse_weight_[i] = everybody_.inverse_weight(in_place_[i]);
  }
  reach.bounds(place_fold_.data(), ones_.data(), padded, 0, place_reach_.data());
  // The compiler makes vectors of loops whose length it knows: over the whole batch, then.
  for (std::size_t i = 0; i < batch; ++i) {
    place_reach_[i] = reach_at_most(place_reach_[i]) * place_inverse_weight_[i];
  }
  for (const MemberIndex newcomer : newcomers_) {
    inverse_weight_.fill(everybody_.inverse_weight(newcomer));
    reach.bounds(row_fold_.data(), inverse_weight_.data(), padded, everybody_.name_fold(newcomer),
                 bound_.data());
    for (std::size_t i = 0; i < batch; ++i) bound_[i] -= place_reach_[i];
    const std::size_t within = reach.within(bound_.data(), padded, 0, found_.data());
    for (std::size_t k = 0; k < within && found_[k] < size_; ++k) rows.push_back(row_[found_[k]]);
  }
  size_ = 0;
}

}  // namespace guideway
