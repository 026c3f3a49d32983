// Help: what the table of commands says about itself, for people and for shells.
// What: usage lines, --help texts, the man page (roff) and the completion of bash.
// Why:  made from the table when asked or when built, never written twice.
#pragma once

#include <string>

#include "command/table.h"

namespace guideway {

[[nodiscard]] std::string usage_line(
    const Command& command);  // "guideway backend drain POOL NAME [--wait] …"
[[nodiscard]] std::string help_text();
[[nodiscard]] std::string help_text(const Command& command);
[[nodiscard]] std::string man_page();
[[nodiscard]] std::string bash_completion();

}  // namespace guideway
