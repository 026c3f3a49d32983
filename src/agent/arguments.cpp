#include "agent/arguments.h"

#include <CLI/CLI.hpp>

namespace guideway::agent {
namespace {

void add_lists(CLI::App& verb, Arguments& arguments) {
  verb.add_option("interface", arguments.interface, "the interface that packets of directors come in at");
  verb.add_option("--director", arguments.directors, "addresses or prefixes of directors")->delimiter(',');
  verb.add_option("--peer", arguments.peers, "addresses or prefixes of the other backends")->delimiter(',');
  verb.add_option("--service", arguments.services, "service addresses or prefixes")->delimiter(',');
  verb.add_option("--local", arguments.local,
                  "addresses of this host that directors send to [the interface's]")
      ->delimiter(',');
  verb.add_option("--udp-port", arguments.udp_port, "UDP port of GUE [19523]");
  verb.add_option("--config", arguments.file, "read what is not given here from this TOML file");
}

}  // namespace

tl::expected<Arguments, int> read_arguments(int argc, const char* const* argv) {
  Arguments out;
  CLI::App app("Takes the directors' wrapping off on a backend, and gives TCP its second chance.",
               "guideway-agent");
  app.set_version_flag("--version", GUIDEWAY_VERSION);
  app.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* meaning, Verb verb) {
    return app.add_subcommand(name, meaning)->callback([&out, verb] { out.verb = verb; });
  };
  CLI::App* attach = add_verb("attach", "attach to an interface; stays when this command ends", Verb::attach);
  add_lists(*attach, out);
  attach->add_option("--mode", out.mode, "auto, native or generic XDP [auto]");
  CLI::App* update =
      add_verb("update", "change lists or port in place; what is not named stays", Verb::update);
  add_lists(*update, out);
  update->add_flag("--reload", out.reload, "put this agent's program in place of the running one");
  CLI::App* detach = add_verb("detach", "take everything off an interface", Verb::detach);
  detach->add_option("interface", out.interface, "the interface");
  detach->add_option("--config", out.file, "the TOML file that names the interface");
  CLI::App* status = add_verb("status", "what is attached, its lists and counters", Verb::status);
  status->add_option("interface", out.interface, "the interface [all]");
  status->add_flag("--json", out.json, "as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(app.exit(error) == 0 ? 0 : exit_usage);
  }
  return out;
}

}  // namespace guideway::agent
