// contract: asks the implementation from outside.
//   contract answer            lines of {"kind", "input"} on stdin -> lines of answers on stdout
//   contract write FILE...     fills in what each case of a vector file expects (a change of it is a new contract)
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <string>

#include "command/golden_vectors.h"

namespace {

using guideway::answered;
using guideway::contract_answer;
using guideway::Json;
using guideway::vectors_text;

void answer_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json question = Json::parse(line);
    std::cout << contract_answer(question.at("kind"), question.at("input")).dump() << std::endl;
  }
}

void write_file(const std::string& path) {
  const Json file = Json::parse(std::ifstream(path));
  std::ofstream out(path);
  out << vectors_text(answered(file));
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
