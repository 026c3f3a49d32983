// Metrics server: read-only HTTP on loopback TCP: GET /metrics and a status page on /.
// What: libmicrohttpd with one thread; every request takes its own view.
// Why:  counters and states are no secret to the host, but changes go through the admin socket alone.
// Not:  TLS, authentication or other addresses than loopback: a reverse proxy does that better.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "control/metrics.h"
#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway {

class MetricsServer {
 public:
  // Called by the server's thread for every request; takes the control lock itself.
  using Source = std::function<MetricsView()>;

  // `bind` as in director.toml: "127.0.0.1:9464" or "[::1]:9464"; port 0 takes a free one.
  [[nodiscard]] static Result<Fd> listen(const std::string& bind);
  // On a socket of listen(): whoever connects meanwhile waits.
  [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(Fd listener, Source source);
  [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(const std::string& bind, Source source);
  // Waits for requests that are being answered.
  ~MetricsServer();
  [[nodiscard]] std::uint16_t port() const;

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
