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

// A person reads the sentence; a program that asked for JSON finds it where it expects the answer.
int report(const Arguments& arguments, const Error& error) {
  if (arguments.json) fmt::print("{}\n", error_json(error));
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

// What was done, for a program or, by `text`, for a person.
int tell(const Arguments& arguments, const Done& done, const std::string& text) {
  if (arguments.json) {
    fmt::print("{}\n", done_json(done));
    return 0;
  }
  const std::string& interface = done.status.interface.name;
  fmt::print("{}: {}\n{}", interface, text, difference_text(done.changes));
  if (done.status.mode == "generic")
    fmt::print("{}: generic mode costs more and switches GRO off; native needs the driver's support\n",
               interface);
  for (const std::string& warning : done.warnings)
    fmt::print(stderr, "guideway-agent: warning: {}\n", warning);
  return 0;
}

constexpr const char* as_asked = "nothing to do, it is as asked";

int run_attach(const Arguments& arguments, const Interface& interface, const Settings& settings) {
  const auto change = attach(interface, settings);
  if (!change) return report(arguments, change.error());
  const auto status = read_status(interface);
  if (!status) return report(arguments, status.error());
  const bool changed = *change == Change::done;
  return tell(arguments, {"attach", changed, *status, {}, preflight(interface, status->lists)},
              fmt::format("{}; {} mode, {}, {}, {}", changed ? "attached" : as_asked, status->mode,
                          counted(status->lists.directors.size(), "director"),
                          counted(status->lists.peers.size(), "peer"),
                          counted(status->lists.services.size(), "service")));
}

// With what was in force and what is, where they differ.
int run_update(const Arguments& arguments, const Interface& interface, const Settings& settings) {
  const auto before = read_status(interface);
  if (!before) return report(arguments, before.error());
  const auto change = update(interface, settings, arguments.reload);
  if (!change) return report(arguments, change.error());
  const auto after = read_status(interface);
  if (!after) return report(arguments, after.error());
  const bool changed = *change == Change::done;
  return tell(arguments,
              {"update", changed, *after, differences(*before, *after), preflight(interface, after->lists)},
              changed ? "updated" : as_asked);
}

int run_detach(const Arguments& arguments, const Interface& interface) {
  const auto detached = detach(interface);
  if (!detached) return report(arguments, detached.error());
  Status status;
  status.interface = interface;
  return tell(arguments, {"detach", true, std::move(status), {}, {}}, "detached");
}

int run_change(const Arguments& arguments) {
  const auto settings = settings_of(arguments);
  if (!settings) return report(arguments, settings.error());
  const auto interface = interface_of(*settings);
  if (!interface) return report(arguments, interface.error());
  const auto lock = take_lock();
  if (!lock) return report(arguments, lock.error());
  if (arguments.verb == Verb::detach) return run_detach(arguments, *interface);
  if (arguments.verb == Verb::attach) return run_attach(arguments, *interface, *settings);
  return run_update(arguments, *interface, *settings);
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
  if (!lock) return report(arguments, lock.error());
  const auto all = statuses(arguments.interface);
  if (!all) return report(arguments, all.error());
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
