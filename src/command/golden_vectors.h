// Golden vectors: routing contract 1 as questions and answers, for other implementations.
// What: the questions of tests/vectors, built in without their answers; each answer is worked out by this very program.
// Why:  whoever wonders whether a director computes as another does compares two files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command/contract_answer.h"

namespace guideway {

struct VectorQuestions {
  std::string_view kind;
  std::string_view text;  // JSON: {"what", "kind", "cases": [{"what", "input"}]}
};

// One per file of tests/vectors, in the order of their names.
[[nodiscard]] std::span<const VectorQuestions> vector_questions();

// The vectors of one file, each case with what it expects; throws where the questions are no JSON.
[[nodiscard]] Json answered(const Json& questions);
// As it lies in tests/vectors: one line each for what, input and expect, so that a difference shows which case changed.
[[nodiscard]] std::string vectors_text(const Json& vectors);

}  // namespace guideway
