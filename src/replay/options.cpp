#include "replay/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <iostream>

namespace guideway {
namespace {

struct NamedFile {
  const char* option;
  const std::string& path;
};

// By device and inode where both exist, so that links are seen through. A terminal, a pipe or /dev/null takes
// everything.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (a.empty() || b.empty() || std::filesystem::is_other(a, ignored)) return false;
  if (std::filesystem::equivalent(a, b, ignored)) return true;
  return std::filesystem::weakly_canonical(a, ignored) == std::filesystem::weakly_canonical(b, ignored);
}

}  // namespace

Result<AtCommand> parse_at(std::string_view text) {
  const std::size_t colon = text.find(':');
  AtCommand command;
  const char* end = text.data() + std::min(colon, text.size());
  const auto [at, error] = std::from_chars(text.data(), end, command.packet);
  if (colon == std::string_view::npos || error != std::errc() || at != end || colon + 1 == text.size())
    return fail(
        ErrorKind::usage, fmt::format("--at {} is not N:COMMAND", text), {},
        "write the packet's number, counted from 0, and the command, as in --at '200:backend drain web b1'");
  command.line = text.substr(colon + 1);
  return command;
}

Result<void> check_files(const ReplayOptions& options) {
  const std::string terminal;
  const NamedFile out{"--out", options.out},
      report{"--report", options.report == "-" ? terminal : options.report};
  const NamedFile read[] = {{"--in", options.in}, {"--site", options.site}, {"--director", options.director}};
  const auto refuse = [](const NamedFile& written, const NamedFile& other) {
    return fail(ErrorKind::usage,
                fmt::format("{} {} is the file of {}", written.option, written.path, other.option), {},
                fmt::format("name another file for {}", written.option));
  };
  for (const NamedFile& other : read) {
    if (is_same_file(out.path, other.path)) return refuse(out, other);
    if (is_same_file(report.path, other.path)) return refuse(report, other);
  }
  if (is_same_file(report.path, out.path)) return refuse(report, out);
  return {};
}

Result<std::optional<ReplayOptions>> parse_options(int argc, const char* const* argv) {
  ReplayOptions options;
  std::vector<std::string> at;
  CLI::App app("Runs a capture through the data plane, without a NIC, root or hugepages.", "guideway-replay");
  app.set_version_flag("--version", "guideway-replay " GUIDEWAY_VERSION);
  app.add_option("--site", options.site, "the site, as TOML")->required()->type_name("FILE");
  app.add_option("--director", options.director,
                 "sources, ports and MTU; without it 192.0.2.1, 2001:db8::1 and MTU 9000")
      ->type_name("FILE");
  app.add_option("--in", options.in, "pcap or pcapng, gzipped or not")->required()->type_name("FILE");
  app.add_option("--out", options.out, "what would leave, as pcap")->type_name("FILE");
  auto* report = app.add_option("--report", options.report, "the report as JSON; - is the standard output");
  report->type_name("-|FILE");
  app.add_flag_callback(
         "--json", [&options] { options.report = "-"; }, "the same as --report -")
      ->excludes(report);
  app.add_option("--at", at, "a command before packet N, counted from 0; again for more")
      ->type_name("N:COMMAND")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return std::nullopt;
    }
    return fail(ErrorKind::usage, error.what(), {}, "see guideway-replay --help");
  }
  for (const std::string& text : at) {
    auto command = parse_at(text);
    if (!command) return tl::unexpected(command.error());
    options.at.push_back(std::move(*command));
  }
  return options;
}

}  // namespace guideway
