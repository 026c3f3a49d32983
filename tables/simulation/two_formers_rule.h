// Two-formers rule: contract 1, stable, but a row remembers the two backends that served it before its holder, not one.
// What: hops are the first, the seat holder, the former, the one before it, and only then the best of the ranking.
// Why:  a row with a former never needs the ranking's best, since the former stands in; contract 1 spends its third hop
//       on it all the same, while a row that is dealt twice within a flow's life has flows with the one before the former.
// Cost: two bytes a row in the site's seating; nothing in the data plane.
// Not:  contract 1; a proposal, measured beside it.
#pragma once

#include "tables/simulation/seated_rule.h"

namespace guideway {

class TwoFormersRule final : public SeatedRule {
 public:
  TwoFormersRule(std::uint64_t seed, std::uint32_t rows)
      : SeatedRule(seed, rows, DealMode::stable), past_(rows) {}
  void change(const Fleet& fleet) override;

 private:
  struct Past {
    BackendNumber former = nobody;
    BackendNumber elder = nobody;  // the former before it
  };

  [[nodiscard]] BackendNumber number_of(MemberIndex member) const {
    return member == no_member ? nobody : numbers()[member];
  }

  std::vector<Past> past_;
};

}  // namespace guideway
