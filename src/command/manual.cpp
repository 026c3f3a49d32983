// The man page and the shell's completion, both written from the table.
#include <fmt/format.h>

#include <algorithm>

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

std::vector<std::string> words_after(std::string_view object) {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    if (command.object == object && !command.verb.empty()) out.emplace_back(command.verb);
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// What completes a positional: a list of words, or a call that prints names.
std::string completion_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::pool:
      return "$(_guideway_names pool)";
    case Kind::service:
      return "$(_guideway_names service)";
    case Kind::backend:
      return "$(_guideway_names backend)";
    case Kind::word: {
      std::string words(parameter.value);
      std::replace(words.begin(), words.end(), '|', ' ');
      return words;
    }
    case Kind::file:
      return "@file";
    default:
      return {};
  }
}

// `key) _guideway_offer OPTIONS POSITIONAL… ;;` of one command.
std::string completion_case(const Command& command) {
  std::string options;
  const auto add = [&options](std::span<const Parameter> more) {
    for (const Parameter& option : more)
      options += (options.empty() ? "--" : " --") + std::string(option.name);
  };
  add(command.options);
  if (command.effect == Effect::change) add(change_options());
  add(program_options());
  std::string out = fmt::format("    \"{}\") _guideway_offer \"{}\"", command.name(), options);
  for (const Parameter& parameter : command.positionals)
    out += fmt::format(" \"{}\"", completion_of(parameter));
  return out + " ;;\n";
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
  out += ".SS Of every command that changes something\n" + man_options(change_options());
  out +=
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nrefused\n.TP\n2\nthe command line is wrong\n.TP\n3\nno daemon "
      "answers\n"
      ".TP\n4\ntime is up\n";
  out +=
      ".SH FILES\n.TP\n/run/guideway/api.sock\nthe daemon's socket\n.TP\n/etc/guideway/director.toml\nthe "
      "director's "
      "own file\n";
  return out + ".SH SEE ALSO\nguidewayd(8), guideway\\-agent(8), guideway\\-replay(1)\n";
}

std::string bash_completion() {
  std::vector<std::string> objects;
  std::string verbs, cases;
  for (const Command& command : commands()) {
    cases += completion_case(command);
    if (std::find(objects.begin(), objects.end(), command.object) != objects.end()) continue;
    objects.emplace_back(command.object);
    if (const auto words = words_after(command.object); !words.empty()) {
      verbs += fmt::format("    {}) echo \"{}\" ;;\n", command.object, joined(words));
    }
  }
  return "# bash completion of guideway, made from its table of commands\n"
         "_guideway_names() { guideway --names \"$1\" \"${words[@]:1}\" 2>/dev/null; }\n"
         "_guideway_verbs() {\n  case \"$1\" in\n" +
         verbs +
         "  esac\n}\n"
         "# Offers the next positional's words, or the options after a dash.\n"
         "_guideway_offer() {\n"
         "  local options=$1\n  shift\n"
         "  if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\"); return; "
         "fi\n"
         "  local wanted=${*:place:1}\n"
         "  if [[ $wanted == @file ]]; then mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return; fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$wanted\" -- \"$cur\")\n"
         "}\n"
         "_guideway() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} words=() word place key\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do [[ $word == -* ]] || words+=(\"$word\"); "
         "done\n"
         "  [[ ${words[0]-} == plan ]] && words=(\"${words[@]:1}\")\n"
         "  if ((${#words[@]} == 0)); then mapfile -t COMPREPLY < <(compgen -W \"" +
         joined(objects) +
         " replay\" -- \"$cur\"); return; fi\n"
         "  local verbs\n  verbs=$(_guideway_verbs \"${words[0]}\")\n"
         "  if [[ -n $verbs && ${#words[@]} -eq 1 ]]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$cur\"); return\n  fi\n"
         "  if [[ -n $verbs ]]; then key=\"${words[0]} ${words[1]}\" place=$((${#words[@]} - 1))\n"
         "  else key=${words[0]} place=${#words[@]}; fi\n"
         "  case \"$key\" in\n" +
         cases + "  esac\n}\ncomplete -F _guideway guideway\n";
}

}  // namespace guideway
