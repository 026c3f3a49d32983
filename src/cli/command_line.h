// Command line: what was typed, taken apart into the program's own options and the command's words.
#pragma once

#include <string>
#include <vector>

#include "guideway/result.h"

namespace guideway {

struct CommandLine {
  bool json = false, help = false, version = false;
  std::string socket, site, director;  // empty: not given
  std::vector<std::string> words;      // the command
};

[[nodiscard]] Result<CommandLine> read_command_line(const std::vector<std::string>& typed);
// The words without an option and its value, in either form (--name VALUE, --name=VALUE).
[[nodiscard]] std::vector<std::string> without_option(const std::vector<std::string>& words,
                                                      const std::string& name, bool has_value);

}  // namespace guideway
