#include "bench/director/director_under_test.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/dataplane/traffic.h"
#include "bench/director/give_up.h"
#include "bench/director/own_directory.h"
#include "cli/client.h"
#include "io/eal.h"

namespace guideway::bench {
namespace {

template <class Value>
Value good(Result<Value> result) {
  if (!result) give_up(result.error().text());
  return std::move(*result);
}

DirectorConfig ring_director(const std::string& directory, Polling polling) {
  const std::vector<unsigned> cpus = usable_cpus();
  if (cpus.size() < 2) give_up("two CPUs are needed: one for the worker, one for the control threads");
  DirectorConfig out;
  out.source_ipv4 = numbered_address(Family::ipv4, backend_range, 1U << 23);
  out.workers = {cpus.back()};
  out.polling = polling;
  out.admin_socket = directory + "/api.sock";
  out.state_dir = directory + "/state";
  out.metrics.clear();
  out.hugepages = false;
  PortConfig port;
  port.name = "gw";
  port.device = "ring:gw";
  port.next_hop_mac = MacAddress{0x02, 0, 0, 0, 0, 0x99};
  out.ports.push_back(port);
  return out;
}

}  // namespace

Site numbered_site(std::uint32_t pools, std::uint32_t backends_each) {
  Site out;
  out.hash_seed = 1;
  for (std::uint32_t n = 0; n < pools; ++n) {
    Pool pool;
    pool.name = fmt::format("p{}", n);
    for (std::uint32_t i = 0; i < backends_each; ++i) {
      Backend backend;
      backend.name = fmt::format("b{}", i);
      backend.address = numbered_address(Family::ipv4, backend_range, n * backends_each + i);
      pool.backends.push_back(backend);
    }
    out.pools.push_back(std::move(pool));
    Service service;
    service.name = fmt::format("s{}", n);
    service.address = numbered_address(Family::ipv4, service_range, n);
    service.ports = {{80, 80}};
    service.pool = fmt::format("p{}", n);
    out.services.push_back(std::move(service));
  }
  return out;
}

DirectorUnderTest::DirectorUnderTest(const Site& site, Polling polling)
    : directory_(own_directory()),
      config_(ring_director(directory_, polling)),
      signals_(good(Signals::block())) {
  spdlog::set_level(spdlog::level::err);
  daemon_ = good(Daemon::start(config_, site, signals_));
}

DirectorUnderTest::~DirectorUnderTest() {
  daemon_.reset();
  std::error_code error;
  std::filesystem::remove_all(directory_, error);  // a child of apart() leaves without exit handlers
}

void DirectorUnderTest::serve_while(const std::function<void()>& work) {
  std::thread beside([&] {
    work();
    kill(getpid(), SIGTERM);
  });
  (void)good(daemon_->serve());
  beside.join();
}

nlohmann::json DirectorUnderTest::ask(const std::vector<std::string>& words) const {
  return ask(connect(), words);
}

Fd DirectorUnderTest::connect() const { return good(Client(config_.admin_socket).connect()); }

nlohmann::json DirectorUnderTest::ask(const Fd& connection, const std::vector<std::string>& words) const {
  return good(Client(config_.admin_socket).ask(connection, words, nullptr));
}

}  // namespace guideway::bench
