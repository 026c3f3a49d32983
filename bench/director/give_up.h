// Give up: a measurement that cannot be made ends its process with one sentence.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace guideway::bench {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

}  // namespace guideway::bench
