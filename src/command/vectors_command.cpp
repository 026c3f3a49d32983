#include "command/vectors_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "command/golden_vectors.h"

namespace guideway {

Result<nlohmann::json> answer_vectors(Context&, const Arguments& arguments) {
  const auto kind = arguments.find("KIND");
  nlohmann::json files = nlohmann::json::array();
  for (const VectorQuestions& questions : vector_questions()) {
    if (!kind || *kind == questions.kind) files.emplace_back(answered(Json::parse(questions.text)));
  }
  return nlohmann::json{{"contract", 1}, {"files", std::move(files)}};
}

// JSON whatever is asked: one kind as its file lies in tests/vectors, all of them as a list. The answer has lost the
// order of the files' keys, so each is worked out once more.
std::string render_vectors(const nlohmann::json& answer, bool) {
  std::string out;
  for (const nlohmann::json& file : answer.at("files")) {
    const auto questions = vector_questions();
    const auto found = std::find_if(questions.begin(), questions.end(), [&](const VectorQuestions& one) {
      return one.kind == file.at("kind").get_ref<const std::string&>();
    });
    if (!out.empty()) out += ",\n";
    out += vectors_text(answered(Json::parse(found->text)));
  }
  return answer.at("files").size() == 1 ? out : "[\n" + out + "]\n";
}

}  // namespace guideway
