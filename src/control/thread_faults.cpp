#include "control/thread_faults.h"

#include <spdlog/spdlog.h>

#include <thread>

namespace guideway {

void ThreadFaults::log(const char* what) noexcept {
  try {
    if (last_ != what) {
      spdlog::error("{}: {}; it goes on", name_, what);
      last_ = what;
    }
  } catch (...) {  // no memory to say that there is no memory
  }
  std::this_thread::sleep_for(rest);
}

}  // namespace guideway
