// contract: asks the implementation from outside.
//   contract answer            lines of {"kind", "input"} on stdin -> lines of answers on stdout
//   contract write FILE...     fills in what each case of a vector file expects (a change of it is a new contract)
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <string>

#include "tests/tables/contract_answer.h"

namespace {

using guideway::contract_answer;
using guideway::Json;

void answer_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json question = Json::parse(line);
    std::cout << contract_answer(question.at("kind"), question.at("input")).dump() << std::endl;
  }
}

// One line each for what, input and expect, so that a difference shows which case changed.
void write_file(const std::string& path) {
  Json file = Json::parse(std::ifstream(path));
  const std::string kind = file.at("kind");
  std::ofstream out(path);
  out << "{\n\"what\": " << file.at("what").dump() << ",\n\"kind\": \"" << kind << "\",\n\"cases\": [";
  const char* separator = "\n";
  for (const Json& entry : file.at("cases")) {
    const Json& input = entry.at("input");
    out << separator << "{\"what\": " << entry.at("what").dump() << ",\n \"input\": " << input.dump()
        << ",\n \"expect\": " << contract_answer(kind, input).dump() << "}";
    separator = ",\n";
  }
  out << "\n]\n}\n";
  if (!out.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::string verb = argc > 1 ? arguments[1] : "";
  try {
    if (verb == "answer" && argc == 2) {
      answer_lines();
    } else if (verb == "write" && argc > 2) {
      for (const char* path : arguments.subspan(2)) write_file(path);
    } else {
      std::cerr << "usage: contract answer | contract write FILE...\n";
      return 2;
    }
  } catch (const std::exception& error) {
    std::cerr << "contract: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
