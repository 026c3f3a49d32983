// guideway-agent: takes the directors' wrapping off on a backend, and gives TCP its second chance.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "agent/attachment.h"
#include "agent/libbpf_log.h"
#include "agent/lock.h"
#include "agent/preflight.h"
#include "agent/status.h"

namespace guideway::agent {
namespace {

constexpr int exit_refused = 1, exit_usage = 2;

// What the command line says, as text.
struct Arguments {
  std::string interface, file, mode;
  std::vector<std::string> directors, peers, services, local;
  std::int64_t udp_port = -1;
  bool reload = false, json = false;
};

int report(const Error& error) {
  fmt::print(stderr, "guideway-agent: {}\n", error.text());
  return error.kind == ErrorKind::usage ? exit_usage : exit_refused;
}

template <class Out, class In, class Parse>
Result<void> take(const In& given, bool present, Parse parse, std::optional<Out>& into) {
  if (!present) return {};
  auto value = parse(given);
  if (!value) return tl::unexpected(value.error());
  into = std::move(*value);
  return {};
}

Result<Settings> settings_of(const Arguments& arguments) {
  Settings out;
  if (!arguments.file.empty()) {
    auto file = read_settings_file(arguments.file);
    if (!file) return file;
    out = std::move(*file);
  }
  Settings over;
  if (!arguments.interface.empty()) over.interface = arguments.interface;
  for (const Result<void>& step :
       {take(arguments.directors, !arguments.directors.empty(), parse_prefixes, over.directors),
        take(arguments.peers, !arguments.peers.empty(), parse_prefixes, over.peers),
        take(arguments.services, !arguments.services.empty(), parse_prefixes, over.services),
        take(arguments.local, !arguments.local.empty(), parse_addresses, over.local),
        take(arguments.mode, !arguments.mode.empty(), parse_mode, over.mode),
        take(arguments.udp_port, arguments.udp_port >= 0, parse_udp_port, over.udp_port)})
    if (!step) return tl::unexpected(step.error());
  return merged(std::move(out), over);
}

Result<Interface> interface_of(const Settings& settings) {
  if (!settings.interface)
    return fail(ErrorKind::usage, "no interface is named", {}, "write it behind the verb or into the file");
  return find_interface(*settings.interface);
}

int print_change(const Interface& interface, const Result<Change>& change, const char* done) {
  if (!change) return report(change.error());
  const auto status = read_status(interface);
  if (!status) return report(status.error());
  fmt::print("{}: {}; {} mode, {} directors, {} peers, {} service addresses\n", interface.name,
             *change == Change::done ? done : "nothing to do, it is as asked", status->mode,
             status->lists.directors.size(), status->lists.peers.size(), status->lists.services.size());
  if (status->mode == "generic")
    fmt::print("{}: generic mode costs more and switches GRO off; native needs the driver's support\n",
               interface.name);
  for (const std::string& warning : preflight(interface, status->lists))
    fmt::print(stderr, "guideway-agent: warning: {}\n", warning);
  return 0;
}

int run_change(const Arguments& arguments, bool is_update) {
  const auto settings = settings_of(arguments);
  if (!settings) return report(settings.error());
  const auto interface = interface_of(*settings);
  if (!interface) return report(interface.error());
  const auto lock = take_lock();
  if (!lock) return report(lock.error());
  if (is_update) return print_change(*interface, update(*interface, *settings, arguments.reload), "updated");
  return print_change(*interface, attach(*interface, *settings), "attached");
}

int run_detach(const Arguments& arguments) {
  const auto settings = settings_of(arguments);
  if (!settings) return report(settings.error());
  const auto interface = interface_of(*settings);
  if (!interface) return report(interface.error());
  const auto lock = take_lock();
  if (!lock) return report(lock.error());
  if (const auto done = detach(*interface); !done) return report(done.error());
  fmt::print("{}: detached\n", interface->name);
  return 0;
}

Result<std::vector<Status>> statuses(const std::string& name) {
  if (name.empty()) return read_all_status();
  const auto interface = find_interface(name);
  if (!interface) return tl::unexpected(interface.error());
  auto status = read_status(*interface);
  if (!status) return tl::unexpected(status.error());
  return std::vector{std::move(*status)};
}

int run_status(const Arguments& arguments) {
  const auto lock = take_lock();
  if (!lock) return report(lock.error());
  const auto all = statuses(arguments.interface);
  if (!all) return report(all.error());
  if (arguments.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Status& status : *all) list.push_back(status_json(status));
    fmt::print("{}\n", nlohmann::json{{"interfaces", list}}.dump(2));
    return 0;
  }
  for (const Status& status : *all) fmt::print("{}", status_text(status));
  if (all->empty()) fmt::print("attached to no interface of this network namespace\n");
  return 0;
}

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

int run(int argc, char** argv) {
  CLI::App app("Takes the directors' wrapping off on a backend, and gives TCP its second chance.",
               "guideway-agent");
  app.set_version_flag("--version", GUIDEWAY_VERSION);
  app.require_subcommand(1);
  Arguments arguments;
  CLI::App* attach = app.add_subcommand("attach", "attach to an interface; stays when this command ends");
  add_lists(*attach, arguments);
  attach->add_option("--mode", arguments.mode, "auto, native or generic XDP [auto]");
  CLI::App* update = app.add_subcommand("update", "change lists or port in place; what is not named stays");
  add_lists(*update, arguments);
  update->add_flag("--reload", arguments.reload, "put this agent's program in place of the running one");
  CLI::App* detach = app.add_subcommand("detach", "take everything off an interface");
  detach->add_option("interface", arguments.interface, "the interface");
  detach->add_option("--config", arguments.file, "the TOML file that names the interface");
  CLI::App* status = app.add_subcommand("status", "what is attached, its lists and counters");
  status->add_option("interface", arguments.interface, "the interface [all]");
  status->add_flag("--json", arguments.json, "as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  keep_libbpf_log();
  if (*status) return run_status(arguments);
  if (*detach) return run_detach(arguments);
  return run_change(arguments, update->parsed());
}

}  // namespace
}  // namespace guideway::agent

int main(int argc, char** argv) { return guideway::agent::run(argc, argv); }
