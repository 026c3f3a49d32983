// Options: guidewayd's command line.
#pragma once

#include <optional>
#include <string>

namespace guideway {

struct DaemonOptions {
  std::string director = "/etc/guideway/director.toml";
  std::string site;  // seeds an empty journal; empty: none
  std::string log_level = "info";
  bool check = false;
};

// nullopt: answered already (--help, --version, a usage error); `exit_code` says how.
[[nodiscard]] std::optional<DaemonOptions> parse_options(int argc, char** argv, int& exit_code);

}  // namespace guideway
