#include "command/golden_vectors.h"

namespace guideway {

Json answered(const Json& questions) {
  Json out = questions;
  for (Json& one : out.at("cases")) one["expect"] = contract_answer(out.at("kind"), one.at("input"));
  return out;
}

std::string vectors_text(const Json& vectors) {
  std::string out = "{\n\"what\": " + vectors.at("what").dump() + ",\n\"kind\": " + vectors.at("kind").dump();
  out += ",\n\"cases\": [";
  const char* separator = "\n";
  for (const Json& one : vectors.at("cases")) {
    out += separator;
    out += "{\"what\": " + one.at("what").dump() + ",\n \"input\": " + one.at("input").dump() +
           ",\n \"expect\": " + one.at("expect").dump() + "}";
    separator = ",\n";
  }
  return out + "\n]\n}\n";
}

}  // namespace guideway
