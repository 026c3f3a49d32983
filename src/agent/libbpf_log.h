// LibbpfLog: libbpf's own words, kept instead of printed.
// Why: it prints whole verifier logs to stderr; the first warning tells a person enough, and only when
// loading fails.
#pragma once

#include <string>

namespace guideway::agent {

void keep_libbpf_log();
// The first warning since the last call; empty if there was none.
[[nodiscard]] std::string take_libbpf_warning();

}  // namespace guideway::agent
