// The shell's completion, written from the table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "command/help.h"

namespace guideway {
namespace {

// How the script completes words of each kind: a list of them, or an @ and what they are names of.
std::string words_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::pool:
      return "@pool";
    case Kind::service:
      return "@service";
    case Kind::backend:
      return "@backend";
    case Kind::file:
      return "@file";
    case Kind::word: {
      std::string words(parameter.value);
      std::replace(words.begin(), words.end(), '|', ' ');
      return words;
    }
    default:
      return {};
  }
}

std::string dashed(const Parameter& option) { return "--" + std::string(option.name); }

// --- What comes next: `KEY) echo WORDS ;;`, the key being the words so far ---

using NextWords = std::map<std::string, std::vector<std::string>>;

void add_once(std::vector<std::string>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

NextWords next_words() {
  NextWords out;
  for (const Command& command : commands()) {
    for (const std::string prefix : {"", "plan"}) {
      if (!prefix.empty() && command.effect == Effect::read) continue;  // there is nothing to plan
      add_once(out[prefix], command.object);
      if (command.verb.empty()) continue;
      const std::string object(command.object);
      add_once(out[prefix.empty() ? object : prefix + " " + object], command.verb);
    }
  }
  out[""].emplace_back("replay");
  return out;
}

std::string next_cases() {
  std::string out;
  for (const auto& [key, words] : next_words())
    out += fmt::format("    \"{}\") echo \"{}\" ;;\n", key, fmt::join(words, " "));
  return out;
}

// --- Options that take a value: one meaning a name, wherever it stands ---

std::string value_cases() {
  std::map<std::string, std::string> words;
  const auto add = [&words](std::span<const Parameter> options) {
    for (const Parameter& option : options)
      if (option.kind != Kind::flag) words[dashed(option)] = words_of(option);
  };
  for (const Command& command : commands()) add(command.options);
  add(change_options());
  add(program_options());
  std::string out;
  for (const auto& [name, offered] : words) out += fmt::format("    {}) echo \"{}\" ;;\n", name, offered);
  return out;
}

// --- Commands: their options and positionals ---

std::string command_cases() {
  std::string out;
  for (const Command& command : commands()) {
    std::vector<std::string> options, positionals;
    for (const Parameter& option : command.options) options.push_back(dashed(option));
    for (const Parameter& option : change_options(command)) options.push_back(dashed(option));
    for (const Parameter& parameter : command.positionals)
      positionals.push_back('"' + words_of(parameter) + '"');
    out += fmt::format("    \"{}\") options=\"{}\" positionals=({}) ;;\n", command.name(),
                       fmt::join(options, " "), fmt::join(positionals, " "));
  }
  return out;
}

std::string program_option_names() {
  std::vector<std::string> out;
  for (const Parameter& option : program_options()) out.push_back(dashed(option));
  return fmt::format("{}", fmt::join(out, " "));
}

constexpr std::string_view script_end = R"bash(  esac
}

# Offers what a list says: words, or with an @ the names of something.
_guideway_offer() {
  local list=$1
  case $list in
    @file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
    @*) list=$(guideway --names "${list#@}" "${words[@]:1}" "${asked[@]}" 2>/dev/null) ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$list" -- "$cur")
}

# The line is split at blanks here: bash itself would also split at the colons of addresses.
_guideway() {
  local line=${COMP_LINE:0:COMP_POINT} cur option='' plan='' word options='' place
  local -a typed words=() positionals=() asked=() # asked: who is to be asked for names
  read -ra typed <<<"$line"
  [[ $line == *[[:space:]] ]] && typed+=('')
  cur=${typed[-1]}
  for word in "${typed[@]:1:${#typed[@]}-2}"; do
    case ${option:-$word} in
      --socket | --site | --director) [[ -n $option ]] && asked+=("$option=$word") ;;
      --socket=* | --site=* | --director=*) asked+=("$word") ;;
    esac
    if [[ -n $option ]]; then
      option='' # that was its value
    elif [[ $word == -* ]]; then
      [[ $word != *=* ]] && _guideway_value "$word" >/dev/null && option=$word
    else
      words+=("$word")
    fi
  done
  [[ $cur == --*=* ]] && option=${cur%%=*} cur=${cur#*=}
  if [[ -n $option ]]; then
    _guideway_offer "$(_guideway_value "$option")"
    return
  fi
  [[ ${words[0]-} == plan ]] && plan=plan words=("${words[@]:1}")
  if [[ ${words[0]-} == replay ]]; then
    _guideway_offer @file
    return
  fi
  for place in 2 1 0; do
    ((${#words[@]} >= place)) && _guideway_command "${words[*]:0:place}" && break
  done
  if [[ $cur == -* ]]; then
    _guideway_offer "$options $_guideway_program_options"
  elif ((place > 0)); then
    _guideway_offer "${positionals[*]:${#words[@]}-place:1}"
  else
    word="$plan ${words[*]}" word=${word# }
    _guideway_offer "$(_guideway_next "${word% }")"
  fi
}
complete -F _guideway guideway
)bash";

}  // namespace

std::string bash_completion() {
  std::string out = "# bash completion of guideway, made from its table of commands\n";
  out += fmt::format("_guideway_program_options=\"{}\"\n", program_option_names());
  out += "\n# The words that may follow those so far.\n_guideway_next() {\n  case $1 in\n" + next_cases() +
         "  esac\n}\n";
  out +=
      "\n# What completes the value of an option; fails for one that takes none.\n_guideway_value() {\n  "
      "case $1 in\n" +
      value_cases() + "    *) return 1 ;;\n  esac\n}\n";
  out +=
      "\n# Sets options and positionals of a command; fails where it is none.\n_guideway_command() {\n  case "
      "$1 in\n" +
      command_cases() + "    *) return 1 ;;\n";
  return out + std::string(script_end);
}

}  // namespace guideway
