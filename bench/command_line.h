// Command line: how a benchmark program is asked, and how it refuses.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace guideway::bench {

// The program's exit code where its words are its end: 0 after help, 2 for a wrong one, as everywhere in the project.
[[nodiscard]] inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace guideway::bench
