#include "tables/simulation/hop_rules.h"

#include "tables/simulation/glb_rule.h"

namespace guideway {
namespace {

class RebuildRule final : public HopRule {
 public:
  RebuildRule(std::uint64_t seed, std::uint32_t rows) : empty_(empty_seating(seed, rows)) {}

  void change(const Fleet& fleet) override {
    std::vector<Member> members = fleet.members(), serving;
    std::vector<BackendNumber> numbers;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!fleet.backends()[i].takes_new()) continue;
      serving.push_back(std::move(members[i]));
      numbers.push_back(fleet.backends()[i].number);
    }
    const Seating dealt = deal(empty_, {}, std::move(serving)).value();
    if (rows_.empty()) rows_.assign(empty_.row_count, {nobody, nobody, nobody});
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row] = {dealt.holder[row] == no_member ? nobody : numbers[dealt.holder[row]], rows_[row][0],
                    nobody};
    }
  }

 private:
  Seating empty_;
};

class SeatedRule final : public HopRule {
 public:
  SeatedRule(std::uint64_t seed, std::uint32_t rows, DealMode mode)
      : mode_(mode), seating_(empty_seating(seed, rows)) {}

  void change(const Fleet& fleet) override {
    const std::vector<MemberStatus> statuses = fleet.statuses();
    std::vector<Member> members = fleet.members();
    if (members == seating_.members) {
      update_rows(hops_, seating_, statuses_, statuses, {});
    } else {
      std::vector<BackendState> states;
      for (const MemberStatus& status : statuses_) states.push_back(status.state);
      seating_ = deal(seating_, states, std::move(members), mode_).value();
      hops_ = build_rows(seating_, statuses, {});
    }
    statuses_ = statuses;
    rows_.resize(hops_.size());
    for (std::size_t row = 0; row < hops_.size(); ++row) {
      for (std::size_t i = 0; i < rows_[row].size(); ++i) {
        const MemberIndex member = hops_[row].hop[i];
        rows_[row][i] = member == no_member ? nobody : fleet.backends()[member].number;
      }
    }
  }

 private:
  DealMode mode_;
  Seating seating_;
  std::vector<MemberStatus> statuses_;
  std::vector<Row> hops_;
};

}  // namespace

std::span<const HopRuleFamily> hop_rules() {
  using Made = std::unique_ptr<HopRule>;
  static const std::array families{
      HopRuleFamily{"rebuild",
                    {1, 2},
                    [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<RebuildRule>(seed, rows);
                    }},
      HopRuleFamily{"glb",
                    {2},
                    [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<GlbRule>(seed, rows);
                    }},
      HopRuleFamily{"scratch",
                    {1, 2, 3},
                    [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<SeatedRule>(seed, rows, DealMode::scratch);
                    }},
      HopRuleFamily{"stable",
                    {1, 2, 3},
                    [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<SeatedRule>(seed, rows, DealMode::stable);
                    }},
  };
  return families;
}

}  // namespace guideway
