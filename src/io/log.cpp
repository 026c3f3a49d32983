#include "io/log.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <rte_log.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
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

// Errors and warnings of drivers that are none for us.
constexpr std::array<std::string_view, 5> harmless{
    // The TAP driver prepares rte_flow, which a twin does not use, with a qdisc that many kernels lack.
    "tap_nl_dump_ext_ack", "multiq qdisc", "Disabling rte flow support",
    // It tells secondary processes of its queues; there are none.
    "tap_mp_req_on_rxtx",
    // An old socket that nobody wants any more.
    "No legacy callbacks"};

bool is_harmless(std::string_view line) {
  return std::any_of(harmless.begin(), harmless.end(),
                     [&](std::string_view part) { return line.find(part) != std::string_view::npos; });
}

// One line a call, since the stream is line buffered. Nothing may be thrown through the C library.
ssize_t write_line(void*, const char* text, std::size_t size) {
  std::string_view line(text, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  try {
    const auto level = is_harmless(line) ? spdlog::level::debug : level_of(rte_log_cur_msg_loglevel());
    if (!line.empty()) spdlog::log(level, fmt::format("dpdk: {}", line));
  } catch (...) {
    return static_cast<ssize_t>(size);
  }
  return static_cast<ssize_t>(size);
}

// What it warns of is told in a sentence of ours; its own words are for those who look for them.
int write_bpf_line(libbpf_print_level level, const char* format, va_list arguments) {
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string_view line(text.data());
  while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  try {
    spdlog::log(level == LIBBPF_DEBUG ? spdlog::level::trace : spdlog::level::debug,
                fmt::format("bpf: {}", line));
  } catch (...) {
    return 0;
  }
  return 0;
}

}  // namespace

DpdkLog::DpdkLog() {
  libbpf_set_print(write_bpf_line);
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
