#include "command/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "command/exit_codes.h"

namespace guideway {
namespace {

std::string option_text(const Parameter& option) {
  std::string out = "--" + std::string(option.name);
  if (option.kind != Kind::flag) out += " " + std::string(option.value);
  return out;
}

// Names to the left, sentences to the right, in one column each.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& [left, right] : lines) width = std::max(width, left.size());
  std::string out;
  for (const auto& [left, right] : lines) out += fmt::format("  {:<{}}  {}\n", left, width, right);
  return out;
}

std::vector<std::pair<std::string, std::string>> option_lines(std::span<const Parameter> options) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Parameter& option : options) out.emplace_back(option_text(option), option.help);
  return out;
}

std::string command_words(const Command& command) {
  std::string out = command.name();
  for (const Parameter& parameter : command.positionals) {
    out += parameter.optional ? fmt::format(" [{}]", parameter.name) : fmt::format(" {}", parameter.name);
  }
  return out;
}

std::string exit_codes_text() {
  std::string out;
  for (const ExitCode& one : exit_codes)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", one.code, one.brief);
  return out;
}

}  // namespace

std::string usage_line(const Command& command) {
  std::string out = "guideway " + command_words(command);
  for (const Parameter& option : command.options) out += fmt::format(" [{}]", option_text(option));
  return out;
}

std::string help_text() {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Command& command : commands()) lines.emplace_back(command_words(command), command.help);
  lines.emplace_back("replay …", "run a capture through the data plane; see guideway-replay --help");
  std::string out =
      "guideway: ask and change a Guideway director\n\nusage: guideway COMMAND … [--json] [--socket "
      "PATH]\n\n";
  out += "commands:\n" + two_columns(lines);
  out += "\noptions of every command:\n" + two_columns(option_lines(program_options()));
  out += "\noptions of every command that changes the site:\n" + two_columns(option_lines(change_options()));
  return out + fmt::format("\nexit codes: {}\n`guideway COMMAND --help` tells more about one command\n",
                           exit_codes_text());
}

std::string help_text(const Command& command) {
  std::string out = fmt::format("{}: {}\n\nusage: {}\n", command.name(), command.help, usage_line(command));
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Parameter& parameter : command.positionals) lines.emplace_back(parameter.name, parameter.help);
  for (const auto& line : option_lines(command.options)) lines.push_back(line);
  for (const auto& line : option_lines(change_options(command))) lines.push_back(line);
  if (!lines.empty()) out += "\n" + two_columns(lines);
  if (!command.details.empty()) out += "\n" + std::string(command.details) + "\n";
  if (command.reach == Reach::any) {
    out += command.effect == Effect::read ? "\nWith --site FILE it works without a daemon.\n"
                                          : "\n`guideway plan` before it tells what it would move.\n";
  }
  return out;
}

}  // namespace guideway
