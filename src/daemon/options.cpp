#include "daemon/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

namespace guideway {

std::optional<DaemonOptions> parse_options(int argc, char** argv, int& exit_code) {
  DaemonOptions out;
  CLI::App app("guidewayd: the Guideway director, which spreads packets over backends", "guidewayd");
  app.add_option("--director", out.director, "settings of this host (TOML)")->capture_default_str();
  app.add_option("--site", out.site, "services and pools (TOML); read only when the journal is empty");
  app.add_option("--log-level", out.log_level, "trace, debug, info, warn, error or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_flag("--check", out.check, "read both files, say what is wrong with them, and end");
  app.set_version_flag("--version", "guidewayd " GUIDEWAY_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    exit_code = app.exit(done);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::cerr << "guidewayd: " << error.what() << "; see guidewayd --help\n";
    exit_code = 2;
    return std::nullopt;
  }
  return out;
}

}  // namespace guideway
