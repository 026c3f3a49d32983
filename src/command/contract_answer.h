// Contract answer: what libguideway says to a question about routing contract 1 put as JSON.
// Why: the golden vectors, their generator, `table vectors` and the comparison with the Python reference all put the
//      same questions; this is the one place that turns JSON into calls of libguideway.
// Not: checks of the question; a malformed one throws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace guideway {

using Json = nlohmann::ordered_json;

// Kinds: flow, log2, deal, ranking, rows. tests/vectors/README.md says what each takes and gives.
[[nodiscard]] Json contract_answer(const std::string& kind, const Json& input);

}  // namespace guideway
