// Health fixture: a checker whose calls are kept, and targets on loopback.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "control/health.h"
#include "test_server.h"

namespace guideway {

inline HealthCheck check_of(std::uint16_t port, HealthCheckType type = HealthCheckType::http) {
  HealthCheck check;
  check.type = type;
  check.port = port;
  check.path = "/healthz";
  check.interval = 40ms;
  check.timeout = 1500ms;  // long, so that a busy machine does not make it fail
  check.rise = 2;
  check.fall = 3;
  return check;
}

inline HealthTarget target(const std::string& backend, const HealthCheck& check,
                           const char* address = "127.0.0.1", const std::string& pool = "web") {
  return {pool, backend, IpAddress::parse(address).value(), check};
}

class HealthTest : public testing::Test {
 protected:
  void start(HealthOptions options = {}) {
    auto started = HealthChecker::start(
        [this](std::span<const HealthChange> changes) {
          const std::lock_guard lock(mutex_);
          calls_.emplace_back(changes.begin(), changes.end());
        },
        options);
    ASSERT_TRUE(started) << started.error().text();
    checker_ = std::move(*started);
  }
  void SetUp() override { start(); }

  HealthReport report(const std::string& backend) const {
    for (auto& report : checker_->reports())
      if (report.backend == backend) return report;
    ADD_FAILURE() << "no report of " << backend;
    return {};
  }
  bool until(const std::function<bool()>& done, std::chrono::steady_clock::duration limit = 5s) const {
    for (const auto end = std::chrono::steady_clock::now() + limit; std::chrono::steady_clock::now() < end;
         std::this_thread::sleep_for(1ms))
      if (done()) return true;
    return false;
  }
  bool until_verdict(const std::string& backend, Health verdict) const {
    return until([&] { return report(backend).verdict == verdict; });
  }
  std::vector<std::vector<HealthChange>> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  std::mutex mutex_;
  std::vector<std::vector<HealthChange>> calls_;
  std::unique_ptr<HealthChecker> checker_;
};

}  // namespace guideway
