// Plan sentences: what a plan breaks and what it leaves to the flow table, for a person.
// Why:  a refusal and a plan that is only looked at say the same in the same words.
#pragma once

#include <string>
#include <vector>

#include "state/plan.h"

namespace guideway {

// One sentence for each thing that --force is asked for; empty when it is not.
[[nodiscard]] std::vector<std::string> breaks_of(const Plan& plan);
// What to do instead, ready to be typed, with --force as the other way.
[[nodiscard]] std::string instead_of_force(const Plan& plan);
// What keeps connections although rows do not.
[[nodiscard]] std::vector<std::string> notes_of(const Plan& plan);

}  // namespace guideway
