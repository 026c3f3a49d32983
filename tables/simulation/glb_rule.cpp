#include "tables/simulation/glb_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace guideway {

GlbRule::GlbRule(std::uint64_t seed, std::uint32_t rows) : best_(std::bit_floor(rows)) {
  for (std::size_t i = 0; i < 8; ++i) key_[i] = static_cast<std::uint8_t>(seed >> 8 * i);
  for (std::uint32_t row = 0; row < best_.size(); ++row) best_[row].seed = glb_row_seed(key_, row);
  rows_.resize(best_.size());
}

GlbRule::Scored GlbRule::scored(const BestOfRow& row, BackendNumber number) const {
  return {glb_score(key_, row.seed, identities_[number]), number};
}

// Behind the last that is kept there may be others, so a newcomer is only kept before it.
void GlbRule::come(BestOfRow& row, BackendNumber number) const {
  if (row.count == 0) return;
  const Scored own = scored(row, number);
  const auto end = row.best.begin() + row.count;
  const auto at = std::upper_bound(row.best.begin(), end, own);
  if (at == end) return;
  if (row.count < kept) ++row.count;
  std::move_backward(at, row.best.begin() + row.count - 1, row.best.begin() + row.count);
  *at = own;
}

void GlbRule::go(BestOfRow& row, BackendNumber number) {
  const auto end = row.best.begin() + row.count;
  const auto at =
      std::find_if(row.best.begin(), end, [&](const Scored& one) { return one.number == number; });
  if (at == end) return;
  std::move(at + 1, end, at);
  --row.count;
}

void GlbRule::fill(BestOfRow& row) const {
  std::vector<Scored> all;
  for (const BackendNumber member : members_) all.push_back(scored(row, member));
  const std::size_t count = std::min(kept, all.size());
  std::partial_sort_copy(all.begin(), all.end(), row.best.begin(), row.best.begin() + count);
  row.count = static_cast<std::uint8_t>(count);
}

void GlbRule::change(const Fleet& fleet) {
  std::vector<BackendNumber> now, gone, come_now;
  std::vector<bool> takes_new(identities_.size());
  for (const SimulatedBackend& backend : fleet.backends()) {
    now.push_back(backend.number);
    while (identities_.size() <= backend.number) {
      identities_.push_back(glb_identity(fmt::format("{:05}", identities_.size())));
    }
    takes_new.resize(identities_.size());
    takes_new[backend.number] = backend.takes_new();
  }
  std::set_difference(members_.begin(), members_.end(), now.begin(), now.end(), std::back_inserter(gone));
  std::set_difference(now.begin(), now.end(), members_.begin(), members_.end(), std::back_inserter(come_now));
  members_ = std::move(now);
  for (std::size_t row = 0; row < best_.size(); ++row) {
    BestOfRow& order = best_[row];
    for (const BackendNumber number : gone) go(order, number);
    for (const BackendNumber number : come_now) come(order, number);
    if (order.count < std::min<std::size_t>(2, members_.size())) fill(order);
    BackendNumber first = order.best[0].number, second = order.count > 1 ? order.best[1].number : nobody;
    if (second != nobody && !takes_new[first] && takes_new[second]) std::swap(first, second);
    rows_[row] = {first, second, nobody};
  }
}

}  // namespace guideway
