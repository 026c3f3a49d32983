// Lock: keeps two agents off the interfaces of one network namespace.
// What: a locked file in /run, one a network namespace, gone with the command.
// Why:  only root can open it; a lock that anybody may take (an abstract socket name, a file in a shared directory) lets
//       any user keep the agent from its work.
// Not:  agents in one network namespace that each have a /run of their own.
#pragma once

#include <string>
#include <utility>

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway::agent {

class Lock {
 public:
  Lock(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Lock(Lock&&) noexcept = default;
  Lock& operator=(Lock&&) = delete;
  ~Lock();  // takes the file away, still locked

 private:
  Fd file_;
  std::string path_;
};

// Waits up to ten seconds for another agent to end. Refused as well when the caller is not root.
[[nodiscard]] Result<Lock> take_lock();

}  // namespace guideway::agent
