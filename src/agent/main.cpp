// guideway-agent: takes the directors' wrapping off on a backend, and gives TCP its second chance.
#include <fmt/format.h>
#include <cstdio>

#include "agent/arguments.h"
#include "agent/attachment.h"
#include "agent/libbpf_log.h"
#include "agent/lock.h"
#include "agent/preflight.h"
#include "agent/status.h"

namespace guideway::agent {
namespace {

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

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void print_warnings(const Interface& interface, const Status& status) {
  if (status.mode == "generic")
    fmt::print("{}: generic mode costs more and switches GRO off; native needs the driver's support\n",
               interface.name);
  for (const std::string& warning : preflight(interface, status.lists))
    fmt::print(stderr, "guideway-agent: warning: {}\n", warning);
}

int run_attach(const Interface& interface, const Settings& settings) {
  const auto change = attach(interface, settings);
  if (!change) return report(change.error());
  const auto status = read_status(interface);
  if (!status) return report(status.error());
  fmt::print("{}: {}; {} mode, {}, {}, {}\n", interface.name,
             *change == Change::done ? "attached" : "nothing to do, it is as asked", status->mode,
             counted(status->lists.directors.size(), "director"), counted(status->lists.peers.size(), "peer"),
             counted(status->lists.services.size(), "service"));
  print_warnings(interface, *status);
  return 0;
}

// What was in force and what is, line by line where they differ.
int run_update(const Interface& interface, const Settings& settings, bool reload) {
  const auto before = read_status(interface);
  if (!before) return report(before.error());
  const auto change = update(interface, settings, reload);
  if (!change) return report(change.error());
  const auto after = read_status(interface);
  if (!after) return report(after.error());
  fmt::print("{}: {}\n", interface.name,
             *change == Change::done ? "updated" : "nothing to do, it is as asked");
  fmt::print("{}", difference_text(*before, *after));
  print_warnings(interface, *after);
  return 0;
}

int print_detached(const Interface& interface, const Result<void>& detached) {
  if (!detached) return report(detached.error());
  fmt::print("{}: detached\n", interface.name);
  return 0;
}

int run_change(const Arguments& arguments) {
  const auto settings = settings_of(arguments);
  if (!settings) return report(settings.error());
  const auto interface = interface_of(*settings);
  if (!interface) return report(interface.error());
  const auto lock = take_lock();
  if (!lock) return report(lock.error());
  if (arguments.verb == Verb::detach) return print_detached(*interface, detach(*interface));
  if (arguments.verb == Verb::attach) return run_attach(*interface, *settings);
  return run_update(*interface, *settings, arguments.reload);
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
    fmt::print("{}\n", statuses_json(*all));
    return 0;
  }
  for (const Status& status : *all) fmt::print("{}", status_text(status));
  if (all->empty()) fmt::print("attached to no interface of this network namespace\n");
  return 0;
}

int run(int argc, char** argv) {
  const auto arguments = read_arguments(argc, argv);
  if (!arguments) return arguments.error();
  keep_libbpf_log();
  return arguments->verb == Verb::status ? run_status(*arguments) : run_change(*arguments);
}

}  // namespace
}  // namespace guideway::agent

int main(int argc, char** argv) { return guideway::agent::run(argc, argv); }
