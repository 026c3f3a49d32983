#include "command/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "command/help.h"
#include "command/values.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

using WordSpan = std::span<const std::string>;

tl::unexpected<Error> usage(std::string what, std::string next) {
  return fail(ErrorKind::usage, std::move(what), {}, std::move(next));
}

std::string help_hint(const Command& command) {
  return fmt::format("see `guideway {} --help`", command.name());
}

std::vector<std::string> objects() {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    if (std::find(out.begin(), out.end(), command.object) == out.end()) out.emplace_back(command.object);
  }
  return out;
}

std::vector<std::string> verbs(std::string_view object) {
  std::vector<std::string> out;
  for (const Command& command : commands()) {
    if (command.object == object && !command.verb.empty()) out.emplace_back(command.verb);
  }
  return out;
}

const Command* default_command(std::string_view object) {
  for (const Command& command : commands()) {
    if (command.object == object && (command.verb.empty() || command.default_verb)) return &command;
  }
  return nullptr;
}

// A verb without its object is the commonest slip.
std::string object_advice(const std::string& word) {
  std::vector<std::string> with_verb;
  for (const Command& command : commands())
    if (command.verb == word) with_verb.push_back("`guideway " + command.name() + "`");
  std::vector<std::string> known = objects();
  known.emplace_back("replay");  // a program of its own, and no command of a director
  std::string out;
  if (const auto near = near_match(word, known)) {
    out = fmt::format("did you mean \"{}\"? ", *near);
  } else if (!with_verb.empty()) {
    out = fmt::format("did you mean {}? ", fmt::join(with_verb, " or "));
  }
  return fmt::format("{}guideway has {}; see `guideway --help`", out, fmt::join(known, ", "));
}

struct Found {
  const Command* command;
  WordSpan rest;
};

Result<Found> find_words(WordSpan words) {
  if (words.empty())
    return usage("no command was given", "see `guideway --help`, or ask for `guideway status`");
  const std::string& object = words[0];
  const std::vector<std::string> known = verbs(object);
  const Command* alone = default_command(object);
  if (known.empty()) {
    if (alone != nullptr) return Found{alone, words.subspan(1)};
    return usage(fmt::format("there is no command \"{}\"", object), object_advice(object));
  }
  if (words.size() > 1 && !words[1].starts_with("-")) {
    if (const Command* command = find_command(object, words[1])) return Found{command, words.subspan(2)};
    return usage(fmt::format("{} has no verb \"{}\"", object, words[1]), advice_for(words[1], known, object));
  }
  if (alone != nullptr) return Found{alone, words.subspan(1)};
  return usage(fmt::format("{} needs a verb", object), fmt::format("use {}", some_of(known)));
}

const Parameter* find_option(const Command& command, std::string_view name) {
  const auto named = [name](const Parameter& option) { return option.name == name; };
  if (const auto at = std::find_if(command.options.begin(), command.options.end(), named);
      at != command.options.end()) {
    return &*at;
  }
  const auto change = change_options(command);
  const auto at = std::find_if(change.begin(), change.end(), named);
  return at == change.end() ? nullptr : &*at;
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> out;
  for (const Parameter& option : command.options) out.push_back("--" + std::string(option.name));
  for (const Parameter& option : change_options(command)) out.push_back("--" + std::string(option.name));
  return out;
}

// The program's own options are no command's; a slip in one of them is only found here.
std::string option_advice(const Command& command, const std::string& name) {
  const std::vector<std::string> known = option_names(command);
  std::vector<std::string> all = known;
  for (const Parameter& option : program_options()) all.push_back("--" + std::string(option.name));
  if (const auto near = near_match(name, all); near && *near != name)
    return fmt::format("did you mean \"{}\"? {}", *near, help_hint(command));
  return known.empty() ? help_hint(command) : advice_for(name, known, "it");
}

// Takes one option, and its value, off the front of `words`.
Result<void> take_option(const Command& command, WordSpan& words, Arguments& out) {
  const std::string& word = words.front();
  words = words.subspan(1);
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const Parameter* option = name.starts_with("--") ? find_option(command, name.substr(2)) : nullptr;
  if (option == nullptr)
    return usage(fmt::format("`{}` has no option {}", command.name(), name), option_advice(command, name));
  if (out.has(option->name)) return usage(fmt::format("{} stands twice", name), "give it once");
  std::string value;
  if (option->kind == Kind::flag) {
    if (equals != std::string::npos) return usage(fmt::format("{} takes no value", name), "leave out the =");
  } else if (equals != std::string::npos) {
    value = word.substr(equals + 1);
  } else {
    if (words.empty()) return usage(fmt::format("{} needs a value", name), help_hint(command));
    value = words.front();
    words = words.subspan(1);
  }
  if (auto good = validate(*option, value); !good) {
    good.error().where = name;
    return good;
  }
  out.values.emplace(option->name, std::move(value));
  return {};
}

Result<void> take_positional(const Parameter& parameter, const std::string& word, Arguments& out) {
  if (auto good = validate(parameter, word); !good) {
    good.error().where = std::string(parameter.name);
    return good;
  }
  out.values.emplace(parameter.name, word);
  return {};
}

// A number below zero is a wrong value, and no option.
bool is_number(const std::string& word, bool value_wanted) {
  return value_wanted &&
         std::all_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<void> take_words(const Command& command, WordSpan words, Arguments& out) {
  std::size_t next = 0;
  bool options_end = false;
  while (!words.empty()) {
    const std::string& word = words.front();
    if (!options_end && word == "--") {
      options_end = true;
      words = words.subspan(1);
    } else if (!options_end && word.size() > 1 && word.starts_with("-") &&
               !is_number(word, next < command.positionals.size())) {
      if (auto taken = take_option(command, words, out); !taken) return taken;
    } else if (next == command.positionals.size()) {
      return usage(fmt::format("`{}` has no use for \"{}\"", command.name(), word),
                   "usage: " + usage_line(command));
    } else {
      if (auto taken = take_positional(command.positionals[next++], word, out); !taken) return taken;
      words = words.subspan(1);
    }
  }
  if (next < command.positionals.size() && !command.positionals[next].optional) {
    return usage(fmt::format("`{}` needs {}", command.name(), command.positionals[next].name),
                 "usage: " + usage_line(command));
  }
  return {};
}

void read_change_options(Arguments& out) {
  out.force = out.has("force");
  out.dry_run = out.has("dry-run");
  if (const auto epoch = out.find("expect-epoch")) {
    if (const auto value = number_value(*epoch)) out.expect_epoch = Epoch{*value};
  }
}

Result<Arguments> parse_planned(WordSpan words) {
  constexpr auto advice =
      "plan takes a command that changes the site, as in `guideway plan backend drain web web-1`";
  if (words.empty()) return usage("there is no command to plan", advice);
  auto planned = parse_command(words);
  if (!planned) return planned;
  const Command& command = *planned->command;
  if (command.effect == Effect::read || planned->dry_run) {
    return usage(fmt::format("`{}` changes nothing, there is nothing to plan", command.name()), advice);
  }
  planned->dry_run = true;
  return planned;
}

Result<void> check_bounds(WordSpan words) {
  if (words.size() > words_max) {
    return usage(fmt::format("the command has more than {} words", words_max), "see `guideway --help`");
  }
  for (const std::string& word : words) {
    if (word.size() > word_bytes_max) {
      return usage(fmt::format("a word of the command is longer than {} bytes", word_bytes_max),
                   "shorten it");
    }
    if (std::any_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
      return usage("a word of the command holds a control character", "leave it out");
    }
  }
  return {};
}

}  // namespace

Result<Arguments> parse_command(WordSpan words) {
  if (auto good = check_bounds(words); !good) return tl::unexpected<Error>(good.error());
  const auto found = find_words(words);
  if (!found) return tl::unexpected<Error>(found.error());
  const Command& command = *found->command;
  if (!command.positionals.empty() && command.positionals.front().kind == Kind::command) {
    return parse_planned(found->rest);
  }
  Arguments out;
  out.command = &command;
  if (auto taken = take_words(command, found->rest, out); !taken) return tl::unexpected<Error>(taken.error());
  if (out.has("timeout") && !out.has("wait"))
    return usage("--timeout is how long --wait waits", "add --wait, or leave it out");
  if (command.effect == Effect::change) read_change_options(out);
  return out;
}

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> out;
  char quote = 0;
  bool in_word = false;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        out.back() += c;
      }
    } else if (c == ' ' || c == '\t') {
      in_word = false;
    } else {
      if (!in_word) out.emplace_back();
      in_word = true;
      if (c == '"' || c == '\'') {
        quote = c;
      } else {
        out.back() += c;
      }
    }
  }
  if (quote != 0) return usage(fmt::format("a {} is never closed", quote), "close it");
  return out;
}

}  // namespace guideway
