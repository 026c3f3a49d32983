// Process: guidewayd, or anything that says READY=1 as it does, as a child; how long that takes, and what CPU time it uses.
// Thread: one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace guideway::bench {

class Process {
 public:
  // Starts it and waits until it is ready; ends this process with a sentence where it is not within 10 s. The socket of
  // the notification is made in `directory`.
  Process(const std::vector<std::string>& words, const std::string& directory);
  ~Process();  // SIGTERM, and waits for its end
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] std::chrono::nanoseconds took() const { return took_; }
  // Since its start, of all its threads, in the kernel and outside.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

 private:
  pid_t pid_ = -1;
  std::chrono::nanoseconds took_{0};
};

}  // namespace guideway::bench
