#include "cli/command_line.h"

#include <fmt/format.h>

#include <map>

#include "command/table.h"

namespace guideway {
namespace {

const Parameter* program_option(std::string_view word) {
  if (!word.starts_with("--")) return nullptr;
  const std::string_view name =
      word.substr(2, word.find('=') == std::string_view::npos ? word.npos : word.find('=') - 2);
  for (const Parameter& option : program_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace

Result<CommandLine> read_command_line(const std::vector<std::string>& typed) {
  CommandLine out;
  const std::map<std::string_view, bool*> flags{
      {"json", &out.json}, {"help", &out.help}, {"version", &out.version}};
  const std::map<std::string_view, std::string*> values{
      {"socket", &out.socket}, {"site", &out.site}, {"director", &out.director}};
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::string& word = typed[i];
    if (word == "-h") {
      out.help = true;
      continue;
    }
    const Parameter* option = program_option(word);
    if (option == nullptr) {
      out.words.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    if (option->kind == Kind::flag) {
      if (equals != std::string::npos)
        return fail(ErrorKind::usage, fmt::format("--{} takes no value", option->name), {},
                    "leave out the =");
      *flags.at(option->name) = true;
      continue;
    }
    std::string value;
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < typed.size()) {
      value = typed[++i];
    }
    if (value.empty()) {
      return fail(ErrorKind::usage, fmt::format("--{} needs a value", option->name), {},
                  "see `guideway --help`");
    }
    *values.at(option->name) = std::move(value);
  }
  return out;
}

std::vector<std::string> without_option(const std::vector<std::string>& words, const std::string& name,
                                        bool has_value) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--" + name) {
      if (has_value) ++i;
    } else if (!words[i].starts_with("--" + name + "=")) {
      out.push_back(words[i]);
    }
  }
  return out;
}

}  // namespace guideway
