// The man page, written from the table.
#include <fmt/format.h>

#include "command/exit_codes.h"
#include "command/help.h"

namespace guideway {
namespace {

// Roff reads a backslash, and a dot or quote at the start of a line, as its own; and it is ASCII.
std::string roff(std::string text) {
  constexpr std::string_view ellipsis = "…";
  for (auto at = text.find(ellipsis); at != text.npos; at = text.find(ellipsis))
    text.replace(at, ellipsis.size(), "...");
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with(".") || out.starts_with("'") ? "\\&" + out : out;
}

std::string man_options(std::span<const Parameter> options) {
  std::string out;
  for (const Parameter& option : options) {
    out += ".TP\n.B " + roff("--" + std::string(option.name));
    if (option.kind != Kind::flag) out += " \\fI" + roff(std::string(option.value)) + "\\fR";
    out += "\n" + roff(std::string(option.help)) + "\n";
  }
  return out;
}

std::string man_command(const Command& command) {
  std::string out = ".TP\n.B " + roff(command.name());
  for (const Parameter& parameter : command.positionals) {
    const std::string name = "\\fI" + roff(std::string(parameter.name)) + "\\fR";
    out += parameter.optional ? " [" + name + "]" : " " + name;
  }
  out += "\n" + roff(std::string(command.help)) + ".\n";
  if (!command.details.empty()) out += roff(std::string(command.details)) + "\n";
  if (!command.options.empty()) out += ".RS\n" + man_options(command.options) + ".RE\n";
  return out;
}

}  // namespace

std::string man_page() {
  std::string out = fmt::format(".TH GUIDEWAY 1 \"\" \"guideway {}\" \"Guideway\"\n", GUIDEWAY_VERSION);
  out += ".SH NAME\nguideway \\- ask and change a Guideway director\n";
  out += ".SH SYNOPSIS\n.B guideway\n.I COMMAND\n\\&... [\\-\\-json] [\\-\\-socket \\fIPATH\\fR]\n";
  out +=
      ".SH DESCRIPTION\nguideway is the client of guidewayd, an L4 load balancer. It asks the director on "
      "its "
      "unix socket; with \\-\\-site it answers from a file, without a daemon.\n";
  out += ".SH COMMANDS\n";
  for (const Command& command : commands()) out += man_command(command);
  out += ".TP\n.B replay \\fI...\\fR\nRun a capture through the data plane; see guideway\\-replay(1).\n";
  out += ".SH OPTIONS\n" + man_options(program_options());
  out += ".SS Of every command that changes the site\n" + man_options(change_options());
  out += ".SH EXIT STATUS\n";
  for (const ExitCode& one : exit_codes) out += fmt::format(".TP\n{}\n{}\n", one.code, one.full);
  out +=
      ".SH FILES\n.TP\n/run/guideway/api.sock\nthe daemon's socket\n.TP\n/etc/guideway/director.toml\nthe "
      "director's "
      "own file\n";
  return out + ".SH SEE ALSO\nguidewayd(8), guideway\\-agent(8), guideway\\-replay(1)\n";
}

}  // namespace guideway
