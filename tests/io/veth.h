// Veth: a network namespace for this process with pairs of interfaces, and raw sockets on their far ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace guideway {

using Frame = std::vector<std::uint8_t>;

// Moves the calling thread, and what it starts from now on, into a network namespace of its own. False: not allowed.
[[nodiscard]] bool enter_own_network();
// Runs `ip WORDS`, or another program; false: it failed.
[[nodiscard]] bool run(const std::string& command);
// What a command says.
[[nodiscard]] std::string output_of(const std::string& command);
// NAME and NAME-far, both up, without IPv6 and unfinished checksums.
[[nodiscard]] bool make_veth(const std::string& name, unsigned mtu);

// A raw socket on an interface: sends frames, and receives those that others sent.
class FarEnd {
 public:
  explicit FarEnd(const std::string& interface);
  ~FarEnd();
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;

  [[nodiscard]] bool send(const Frame& frame) const;
  // The first frame that `wanted` takes; nullopt when the time is up.
  [[nodiscard]] std::optional<Frame> receive(const std::function<bool(const Frame&)>& wanted,
                                             std::chrono::milliseconds limit) const;

 private:
  int socket_ = -1;
};

}  // namespace guideway
