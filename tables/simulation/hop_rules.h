// Hop rules: how a director comes from a fleet to the hops of its rows, by our rule and by those it is measured against.
// What: `rebuild`, Maglev dealt anew over whoever takes new flows, alone or with the table before as second hop;
//       `glb`, each row's two best members, exchanged while only the second takes new flows; `stable` and `scratch`,
//       contract 1 in both modes of dealing, with one, two or three hops; `two-formers`, no contract but a proposal.
// Cost: a change as libguideway makes it; GLB's rows keep their best few members, so that a change does not score all.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tables/simulation/fleet.h"

namespace guideway {

using RowHops = std::array<BackendNumber, 3>;  // nobody behind the last

class HopRule {
 public:
  virtual ~HopRule() = default;
  // The fleet as it is after a change; the first call is the beginning.
  virtual void change(const Fleet& fleet) = 0;
  [[nodiscard]] const std::vector<RowHops>& rows() const { return rows_; }

 protected:
  std::vector<RowHops> rows_;
};

struct HopRuleFamily {
  std::string_view name;
  std::vector<std::uint32_t> hops;  // how many are used, one variant each; fewer are the first of more
  std::unique_ptr<HopRule> (*make)(std::uint64_t seed, std::uint32_t rows);
  bool weights = true;     // rows go by the backends' weights
  bool own_firsts = true;  // if not, its first hops are another's
};

[[nodiscard]] std::span<const HopRuleFamily> hop_rules();
// Refused: a name that is not there, with all that are.
[[nodiscard]] Result<const HopRuleFamily*> find_hop_rule(std::string_view name);

}  // namespace guideway
