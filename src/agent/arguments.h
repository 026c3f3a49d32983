// Arguments: what guideway-agent's command line says, as text.
// Not:  what the texts mean (settings.h).
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace guideway::agent {

enum class Verb { attach, update, detach, status };

struct Arguments {
  Verb verb = Verb::status;
  std::string interface, file, mode;
  std::vector<std::string> directors, peers, services, local;
  std::int64_t udp_port = -1;
  bool reload = false, json = false;
};

inline constexpr int exit_refused = 1, exit_usage = 2;

// Or the exit code, when there is nothing to do: help, the version or a mistake have been printed.
[[nodiscard]] tl::expected<Arguments, int> read_arguments(int argc, const char* const* argv);

}  // namespace guideway::agent
