// Director under test: the daemon, whole, in this process: its files in a directory that goes with it, one port.
// What: a site of so many pools with a service each, started as guidewayd starts; asked over its API socket.
// Why:  what is measured is what runs: API, controller, journal on disk, publisher, and the worker on a core of its own.
// Thread: main makes it and serves; another one asks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "state/director_config.h"
#include "state/site.h"

namespace guideway::bench {

// Service n (203.0.113.0 + n, TCP port 80) is served by pool n, of backends "b0", "b1", ...
[[nodiscard]] Site numbered_site(std::uint32_t pools, std::uint32_t backends_each);

class DirectorUnderTest {
 public:
  // Its port is "ring:gw". Ends the process with a sentence where the machine has too few CPUs or the daemon refuses.
  DirectorUnderTest(const Site& site, Polling polling);
  ~DirectorUnderTest();
  DirectorUnderTest(const DirectorUnderTest&) = delete;
  DirectorUnderTest& operator=(const DirectorUnderTest&) = delete;

  // Serves while `work` runs on a thread of its own, beside the control threads.
  void serve_while(const std::function<void()>& work);
  // Any thread: a command; its answer, or the end of the process. Over a connection that `connect` made the request is all
  // that is still to be sent.
  nlohmann::json ask(const std::vector<std::string>& words) const;
  [[nodiscard]] Fd connect() const;
  nlohmann::json ask(const Fd& connection, const std::vector<std::string>& words) const;
  // Where its journal is.
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
  DirectorConfig config_;
  Signals signals_;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace guideway::bench
