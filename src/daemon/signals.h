// Signals: SIGTERM and SIGINT end the daemon in order; SIGHUP and SIGPIPE do nothing.
// What: blocks them in this thread and all that it starts, and reads them from a descriptor.
// Why:  no handler runs in a worker; a change of the site needs no signal (guideway apply), one of the host's own
//       file needs a restart, which breaks no connection.
// Thread: main; made before any other thread. kill -9 needs nothing: the journal is whole at every moment, and the
//         kernel closes what we held.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "guideway/result.h"

namespace guideway {

class Signals {
 public:
  [[nodiscard]] static Result<Signals> block();
  Signals(Signals&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  // Waits at most so long; the signal that says to end ("SIGTERM"), or nothing.
  [[nodiscard]] std::string wait(std::chrono::milliseconds limit) const;

 private:
  explicit Signals(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace guideway
