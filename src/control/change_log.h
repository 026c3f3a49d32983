// Change log: what guidewayd's log says about changes of the site.
// What: a line for each change in force (what, its epoch, who, whether forced), and a warning when the journal could not
//       be written. Beyond so many lines a second the rest is counted; a failure that repeats is told now and then.
// Why:  whoever looks back after an incident finds who changed what.
// Cost: the caller makes the line and leaves it in a short queue; a thread of its own writes, so that neither a change
//       nor its answer waits for a full journald.
// Not:  the history of the site (the journal).
// Thread: any.
#pragma once

#include <spdlog/common.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "command/arguments.h"
#include "guideway/result.h"
#include "state/site_version.h"

namespace guideway {

class ChangeLog {
 public:
  static constexpr unsigned lines_per_second_max = 20;
  static constexpr std::chrono::seconds repeat_after{10};  // the same failure

  ChangeLog() = default;
  ~ChangeLog();  // writes what is left
  ChangeLog(const ChangeLog&) = delete;
  ChangeLog& operator=(const ChangeLog&) = delete;

  void start();
  // `answer` is that of a change; one that has changed nothing is not told.
  void in_force(const Arguments& arguments, const nlohmann::json& answer) noexcept;
  // Of a change whose answer could not be made.
  void in_force(const Arguments& arguments, Epoch epoch) noexcept;
  void journal_failed(const Error& error) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Line {
    spdlog::level::level_enum level;
    std::string text;
  };

  void add(Line line, std::uint64_t epoch);
  void write();

  std::mutex mutex_;  // guards the rest; nothing is written while it is held
  std::condition_variable wake_;
  std::deque<Line> lines_;
  Clock::time_point window_{};  // the second that is counted
  unsigned told_ = 0;           // lines of it
  std::uint64_t skipped_ = 0, skipped_epoch_ = 0;
  std::string failure_;  // the last one that was told
  Clock::time_point failure_told_{};
  std::uint64_t failures_skipped_ = 0;
  bool stopping_ = false;
  std::thread writer_;
};

// On one line, without control characters or bytes of a terminal's, and not longer than this.
[[nodiscard]] std::string log_text(std::string_view text, std::size_t bytes_max = 300);

}  // namespace guideway
