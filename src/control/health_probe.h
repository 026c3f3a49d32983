// Health probes: single checks of backends, many at once, none of them blocking.
// What: a TCP connect or an HTTP GET straight to the backend's address, by libcurl's multi interface.
// Why:  a hung backend costs its own timeout and one descriptor, never the next backend's check.
// Cost: one connection a probe, always a new one; at most answer_bytes_max are read of an answer.
// Not:  when to probe, and what the results mean (health.h); redirects, proxies, names (addresses only).
// Thread: all calls from one thread, but wake().
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "guideway/address.h"
#include "guideway/result.h"
#include "state/site.h"

namespace guideway {

struct ProbeResult {
  std::uint64_t id = 0;
  enum class Outcome : std::uint8_t {
    passed,
    failed,
    not_made,  // our own lack (descriptors, memory, local ports): says nothing about the backend
  } outcome = Outcome::passed;
  std::string error;  // "connection refused", "timed out after 1s", "HTTP 503"; empty when passed
};

class HealthProbes {
 public:
  static constexpr std::size_t answer_bytes_max =
      65536;  // headers and body; a longer body is cut, not a fault

  [[nodiscard]] static Result<HealthProbes> open();
  HealthProbes(HealthProbes&&) noexcept;
  HealthProbes& operator=(HealthProbes&&) noexcept;
  ~HealthProbes();

  // `id` is the caller's and not in use. The result comes from a later run().
  void start(std::uint64_t id, const IpAddress& address, const HealthCheck& check);
  // Gives it up without a result; nothing happens for an id that is not running.
  void cancel(std::uint64_t id);
  [[nodiscard]] std::size_t running() const;

  // Waits for at most `limit` and returns what ended.
  [[nodiscard]] std::vector<ProbeResult> run(std::chrono::milliseconds limit);
  // Any thread: ends the present or the next wait.
  void wake();

 private:
  struct Impl;
  explicit HealthProbes(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
