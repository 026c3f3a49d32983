#include "agent/libbpf_log.h"

#include <bpf/libbpf.h>

#include <array>
#include <cstdio>
#include <utility>

namespace guideway::agent {
namespace {

std::string& first_warning() {
  static std::string text;
  return text;
}

int keep(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !first_warning().empty()) return 0;
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  const std::string text = line.data();
  first_warning() = text.substr(0, text.find('\n'));
  return 0;
}

}  // namespace

void keep_libbpf_log() { libbpf_set_print(keep); }

std::string take_libbpf_warning() { return std::exchange(first_warning(), {}); }

}  // namespace guideway::agent
