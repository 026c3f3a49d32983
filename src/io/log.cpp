#include "io/log.h"

#include <rte_log.h>
#include <spdlog/spdlog.h>

#include <string_view>

namespace guideway {
namespace {

spdlog::level::level_enum level_of(int dpdk_level) {
  switch (dpdk_level) {
    case RTE_LOG_EMERG:
    case RTE_LOG_ALERT:
    case RTE_LOG_CRIT:
      return spdlog::level::critical;
    case RTE_LOG_ERR:
      return spdlog::level::err;
    case RTE_LOG_WARNING:
      return spdlog::level::warn;
    // What DPDK tells of itself at start is for those who look for it.
    case RTE_LOG_NOTICE:
    case RTE_LOG_INFO:
      return spdlog::level::debug;
    default:
      return spdlog::level::trace;
  }
}

// One line a call, since the stream is line buffered. Nothing may be thrown through the C library.
ssize_t write_line(void*, const char* text, std::size_t size) {
  std::string_view line(text, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  try {
    if (!line.empty()) spdlog::log(level_of(rte_log_cur_msg_loglevel()), "dpdk: {}", line);
  } catch (...) {
    return static_cast<ssize_t>(size);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

DpdkLog::DpdkLog() {
  cookie_io_functions_t functions{};
  functions.write = write_line;
  stream_ = fopencookie(nullptr, "w", functions);
  if (stream_ == nullptr) return;  // DPDK goes on writing to stdout
  setvbuf(stream_, nullptr, _IOLBF, BUFSIZ);
  rte_openlog_stream(stream_);
}

DpdkLog::~DpdkLog() {
  if (stream_ == nullptr) return;
  rte_openlog_stream(nullptr);
  std::fclose(stream_);
}

}  // namespace guideway
