// GLB rule: a row goes to its best member by GLB's scores, and on to its second best; the two change places while only
// the second takes new flows. A member that comes or goes takes its place in the order of every row, and no other moves.
// Cost: a row keeps its best eight, and is scored over all members only when seven of them have gone.
#pragma once

#include "tables/algorithms/glb_rows.h"
#include "tables/simulation/hop_rules.h"

namespace guideway {

class GlbRule final : public HopRule {
 public:
  GlbRule(std::uint64_t seed, std::uint32_t rows);
  void change(const Fleet& fleet) override;

 private:
  static constexpr std::size_t kept = 8;
  struct Scored {
    std::uint64_t score = 0;
    BackendNumber number = nobody;
    auto operator<=>(const Scored&) const = default;
  };
  struct BestOfRow {
    SipDigest seed{};
    std::array<Scored, kept> best;
    std::uint8_t count = 0;
  };

  [[nodiscard]] Scored scored(const BestOfRow& row, BackendNumber number) const;
  void come(BestOfRow& row, BackendNumber number) const;
  static void go(BestOfRow& row, BackendNumber number);
  void fill(BestOfRow& row) const;

  SipKey key_{};
  std::vector<BackendNumber> members_;
  std::vector<std::vector<std::uint8_t>> identities_;  // [number]
  std::vector<BestOfRow> best_;
};

}  // namespace guideway
