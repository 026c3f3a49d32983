// Exit codes: what `guideway` ends with, for its help, its man page, and itself.
#pragma once

#include <array>
#include <string_view>

namespace guideway {

enum Exit : int {
  exit_done = 0,
  exit_refused = 1,
  exit_usage = 2,
  exit_no_daemon = 3,
  exit_timeout = 4,
  exit_in_doubt = 5,
  exit_no_reader = 141,  // as a shell shows whoever has been ended by SIGPIPE
};

struct ExitCode {
  int code;
  std::string_view brief, full;
};

inline constexpr std::array<ExitCode, 7> exit_codes{{
    {exit_done, "done", "done"},
    {exit_refused, "refused", "refused"},
    {exit_usage, "usage", "the command line is wrong"},
    {exit_no_daemon, "no daemon", "no daemon answers"},
    {exit_timeout, "time is up", "time is up"},
    {exit_in_doubt, "a change in doubt",
     "the answer to a change did not come: it may or may not be in force, which the epoch in `guideway "
     "status` "
     "tells"},
    {exit_no_reader, "nobody reads the answer",
     "whoever read the answer to a question, as `head` does, has gone"},
}};

}  // namespace guideway
