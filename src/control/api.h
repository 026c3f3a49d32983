// API: HTTP/1.1 and JSON on the unix socket.
// What: takes requests from whom the socket lets in, bounded in size, number and time, and answers with api_routes.
// Why:  libmicrohttpd reads the bytes; nothing of a request is believed here beyond its size.
// Not:  what is asked and answered (api_routes.h), metrics over TCP.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "control/api_routes.h"
#include "control/api_socket.h"
#include "guideway/result.h"
#include "toml/text_file.h"

namespace guideway {

struct ApiLimits {
  std::size_t body_bytes_max = text_bytes_max;
  unsigned connections_max = 1024;    // also kept below a quarter of the limit of open files
  std::chrono::seconds idle_max{10};  // without a byte
  std::chrono::seconds body_max{60};  // from a request's header to the end of its body, however it trickles
};

class Api {
 public:
  // Answers from its own threads until it is destroyed; `run` is called by several of them.
  [[nodiscard]] static Result<std::unique_ptr<Api>> start(ApiSocket socket, CommandRunner run,
                                                          ApiLimits limits = {});
  ~Api();

 private:
  struct Impl;
  explicit Api(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
