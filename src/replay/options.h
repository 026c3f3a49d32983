// Options: guideway-replay's command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/result.h"
#include "replay/replay.h"

namespace guideway {

struct ReplayOptions {
  std::string site, director, in, out, report;
  std::vector<AtCommand> at;
};

// "200:backend drain web web-1"
[[nodiscard]] Result<AtCommand> parse_at(std::string_view text);

// The files that are written must not be among those that are read, nor the same twice, by whatever path.
[[nodiscard]] Result<void> check_files(const ReplayOptions& options);

// nullopt: help or the version was asked for and printed. An error is a usage error.
[[nodiscard]] Result<std::optional<ReplayOptions>> parse_options(int argc, const char* const* argv);

}  // namespace guideway
