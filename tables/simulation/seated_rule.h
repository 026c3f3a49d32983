// Seated rule: contract 1 as a director carries it out. A change of members deals, another only updates rows.
#pragma once

#include "tables/simulation/hop_rules.h"

namespace guideway {

class SeatedRule : public HopRule {
 public:
  SeatedRule(std::uint64_t seed, std::uint32_t rows, DealMode mode)
      : mode_(mode), seating_(empty_seating(seed, rows)) {}
  void change(const Fleet& fleet) override;

 protected:
  // Of the fleet that was shown last; numbers()[i] is that of seating().members[i].
  [[nodiscard]] const Seating& seating() const { return seating_; }
  [[nodiscard]] const std::vector<BackendNumber>& numbers() const { return numbers_; }

 private:
  DealMode mode_;
  Seating seating_;
  std::vector<BackendNumber> numbers_;
  std::vector<MemberStatus> statuses_;
  std::vector<Row> hops_;
};

}  // namespace guideway
