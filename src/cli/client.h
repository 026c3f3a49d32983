// Client: asks the daemon over its unix socket.
// What: one command, sent as words, answered as JSON or as the daemon's own Error.
// Not:  text for people (the commands' renderers), waiting (wait.h).
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway {

class Client {
 public:
  // A daemon that hangs is told after `answer_max`.
  explicit Client(std::string socket, std::chrono::seconds answer_max = std::chrono::seconds(20))
      : socket_(std::move(socket)), answer_max_(answer_max) {}
  // `input` is the text of the command's FILE; nullptr where it has none. no_daemon when nobody answers;
  // `cut` is set when the daemon may have the words and its answer did not come.
  [[nodiscard]] Result<nlohmann::json> ask(const std::vector<std::string>& words, const std::string* input,
                                           bool* cut = nullptr) const;
  // The same in two steps; a connection is for one command.
  [[nodiscard]] Result<Fd> connect() const;
  [[nodiscard]] Result<nlohmann::json> ask(const Fd& connection, const std::vector<std::string>& words,
                                           const std::string* input, bool* cut = nullptr) const;

 private:
  std::string socket_;
  std::chrono::seconds answer_max_;
};

}  // namespace guideway
