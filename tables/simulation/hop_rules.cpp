#include "tables/simulation/hop_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tables/simulation/glb_rule.h"
#include "tables/simulation/seated_rule.h"
#include "tables/simulation/two_formers_rule.h"

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

}  // namespace

std::span<const HopRuleFamily> hop_rules() {
  using Made = std::unique_ptr<HopRule>;
  static const std::array families{
      HopRuleFamily{.name = "rebuild",
                    .hops = {1, 2},
                    .make = [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<RebuildRule>(seed, rows);
                    }},
      HopRuleFamily{.name = "glb",
                    .hops = {2},
                    .make = [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<GlbRule>(seed, rows);
                    },
                    .weights = false},
      HopRuleFamily{.name = "scratch",
                    .hops = {1, 2, 3},
                    .make = [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<SeatedRule>(seed, rows, DealMode::scratch);
                    }},
      HopRuleFamily{.name = "stable",
                    .hops = {1, 2, 3},
                    .make = [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<SeatedRule>(seed, rows, DealMode::stable);
                    }},
      HopRuleFamily{.name = "two-formers",
                    .hops = {3},
                    .make = [](std::uint64_t seed, std::uint32_t rows) -> Made {
                      return std::make_unique<TwoFormersRule>(seed, rows);
                    },
                    .own_firsts = false},
  };
  return families;
}

Result<const HopRuleFamily*> find_hop_rule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const HopRuleFamily& known : hop_rules()) {
    if (known.name == name) return &known;
    names.push_back(known.name);
  }
  return fail(ErrorKind::not_found, fmt::format("\"{}\" is no rule", name), {},
              fmt::format("there are {}", fmt::join(names, ", ")));
}

}  // namespace guideway
