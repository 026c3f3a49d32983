#include "agent/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "agent/status.h"
#include "toml/near_match.h"

namespace guideway::agent {
namespace {

// A list goes by the name of one of its members, and by the key's name of the file.
void add_lists(CLI::App& verb, Arguments& arguments) {
  verb.add_option("interface", arguments.interface, "the interface that packets of directors come in at");
  const auto add_list = [&verb](const char* names, std::vector<std::string>& list, const char* meaning) {
    verb.add_option(names, list, meaning)->delimiter(',')->type_name("ADDRESS");
  };
  add_list("--director,--directors", arguments.directors, "addresses or prefixes of directors");
  add_list("--peer,--peers", arguments.peers, "addresses or prefixes of the other backends");
  add_list("--service,--services", arguments.services, "service addresses or prefixes");
  add_list("--local", arguments.local, "addresses of this host that directors send to [the interface's]");
  verb.add_option("--udp-port", arguments.udp_port, "UDP port of GUE [19523]")->type_name("N");
  verb.add_option("--config", arguments.file, "read what is not given here from this TOML file")
      ->type_name("FILE");
}

// `did you mean "--director"? ` where there is an option that is nearly what was typed.
std::string option_meant(const CLI::App& verb) {
  const auto unknown = verb.remaining();
  const auto typed = std::ranges::find_if(unknown, [](const auto& word) { return word.starts_with("--"); });
  if (typed == unknown.end()) return {};
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back(name);
  const auto meant = near_match(typed->substr(2, typed->find('=') - 2), known);
  return meant ? "did you mean \"--" + *meant + "\"? " : "";
}

// One sentence, as the other programs say it.
std::string sentence(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb.empty()) return "no verb was given; use attach, update, detach or status";
  if (verb.starts_with("-"))
    return std::string(error.what()) + "; " + option_meant(app) + "see guideway-agent --help";
  const auto known = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == verb; });
  if (known.empty()) return "there is no verb \"" + verb + "\"; use attach, update, detach or status";
  return std::string(error.what()) + "; " + option_meant(*known.front()) + "see guideway-agent " + verb +
         " --help";
}

}  // namespace

tl::expected<Arguments, int> read_arguments(int argc, const char* const* argv) {
  Arguments out;
  CLI::App app("Takes the directors' wrapping off on a backend, and gives TCP its second chance.",
               "guideway-agent");
  app.set_version_flag("--version", "guideway-agent " GUIDEWAY_VERSION);
  app.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* meaning, Verb verb) {
    return app.add_subcommand(name, meaning)->callback([&out, verb] { out.verb = verb; });
  };
  CLI::App* attach = add_verb("attach", "attach to an interface; stays when this command ends", Verb::attach);
  add_lists(*attach, out);
  attach->add_option("--mode", out.mode, "auto, native or generic XDP [auto]")->type_name("MODE");
  CLI::App* update =
      add_verb("update", "put the lists that are named in place of those in force; what is not named stays",
               Verb::update);
  add_lists(*update, out);
  update->add_flag("--reload", out.reload, "put this agent's program in place of the running one");
  CLI::App* detach = add_verb("detach", "take everything off an interface", Verb::detach);
  detach->add_option("interface", out.interface, "the interface");
  detach->add_option("--config", out.file, "the TOML file that names the interface")->type_name("FILE");
  CLI::App* status = add_verb("status", "what is attached, its lists and counters", Verb::status);
  status->add_option("interface", out.interface, "the interface [all]");
  for (CLI::App* verb : {attach, update, detach, status})
    verb->add_flag("--json", out.json, "answer as JSON, refusals too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return tl::unexpected(app.exit(done));
  } catch (const CLI::ParseError& error) {
    const std::string what = sentence(app, error, argc, argv);
    // What is not to be read may still ask for JSON.
    if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc)
      std::printf("%s\n", error_json({ErrorKind::usage, what, {}, {}}).c_str());
    std::fprintf(stderr, "guideway-agent: %s\n", what.c_str());
    return tl::unexpected(exit_usage);
  }
  return out;
}

}  // namespace guideway::agent
