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

namespace guideway {

struct ApiLimits {
  std::size_t body_bytes_max = std::size_t{64} << 20;
  unsigned connections_max = 64;
  std::chrono::seconds idle_max{30};
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
