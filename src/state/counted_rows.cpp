#include "state/counted_rows.h"

namespace guideway {
namespace {

bool is_same(const std::weak_ptr<const CountedRows>& a, const CountedRows::Shared& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

std::shared_ptr<const std::vector<std::uint32_t>> seats_of(const Seating& seating) {
  std::vector<std::uint32_t> out(seating.members.size());
  for (const MemberIndex holder : seating.holder)
    if (holder != no_member) ++out[holder];
  return std::make_shared<const std::vector<std::uint32_t>>(std::move(out));
}

}  // namespace

CountedRows::Shared CountedRows::built(const Seating& seating, std::span<const MemberStatus> status,
                                       const HopRules& rules) {
  const std::shared_ptr<CountedRows> out(new CountedRows);
  out->rows_ = build_rows(seating, status, rules);
  out->seats_ = seats_of(seating);
  out->firsts_.resize(seating.members.size() + 1);
  for (const Row& row : out->rows_) out->count(row, 1);
  return out;
}

CountedRows::Shared CountedRows::made_from(const Shared& other, const Seating& seating,
                                           std::span<const MemberStatus> other_status,
                                           std::span<const MemberStatus> status, const HopRules& rules) {
  const std::shared_ptr<CountedRows> out(new CountedRows);
  out->rows_ = other->rows_;
  out->seats_ = other->seats_;
  out->firsts_ = other->firsts_;
  out->origin_ = other;
  out->changed_ = update_rows(out->rows_, seating, other_status, status, rules);
  for (const std::uint32_t row : out->changed_) {
    out->count(other->rows_[row], ~std::uint32_t{0});
    out->count(out->rows_[row], 1);
  }
  return out;
}

void CountedRows::count(const Row& row, std::uint32_t by) {
  firsts_[row.takes_new != 0 ? row.hop[0] : firsts_.size() - 1] += by;
}

std::optional<std::span<const std::uint32_t>> CountedRows::differing(const Shared& a, const Shared& b) {
  if (a == b) return std::span<const std::uint32_t>();
  if (is_same(a->origin_, b)) return a->changed_;
  if (is_same(b->origin_, a)) return b->changed_;
  return std::nullopt;
}

}  // namespace guideway
