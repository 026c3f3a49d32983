#include "bench/director/wake.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "bench/dataplane/clock.h"
#include "bench/dataplane/traffic.h"
#include "bench/director/director_under_test.h"
#include "bench/director/give_up.h"

namespace guideway::bench {
namespace {

// The port's far ends.
class Wire {
 public:
  Wire() : in_(rte_ring_lookup("gw_rx0")), out_(rte_ring_lookup("gw_tx0")) {
    rte_mempool* mbufs =
        rte_pktmbuf_pool_create("wire", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    std::uint16_t port = 0;
    rte_ether_addr mac{};
    if (in_ == nullptr || out_ == nullptr || mbufs == nullptr ||
        rte_eth_dev_get_port_by_name("net_ring_gw", &port) != 0 || rte_eth_macaddr_get(port, &mac) != 0)
      give_up("there is no ring port gw");
    TrafficRules rules;
    std::copy(std::begin(mac.addr_bytes), std::end(mac.addr_bytes), rules.mac.begin());
    static std::vector<std::unique_ptr<Traffic>> kept;  // until the process ends, as the port's rings are
    traffic_ = kept.emplace_back(std::make_unique<Traffic>(rules, mbufs)).get();
  }

  // Cycles from one ring to the other.
  double pass() {
    traffic_->receive(burst_, Flags::ack);
    const std::uint64_t begin = rte_rdtsc_precise();
    if (rte_ring_enqueue(in_, burst_.packets[0]) != 0) give_up("the port's ring is full");
    void* back = nullptr;
    while (rte_ring_dequeue(out_, &back) != 0) {
      if (rte_rdtsc() - begin > rte_get_tsc_hz()) give_up("a packet has not come back in a second");
      rte_pause();
    }
    return static_cast<double>(rte_rdtsc_precise() - begin);
  }

 private:
  rte_ring *in_, *out_;
  Traffic* traffic_ = nullptr;
  Burst burst_;
};

}  // namespace

Wake run_wake(std::uint32_t packets) {
  DirectorUnderTest director(numbered_site(1, 100), Polling::adaptive);
  std::vector<double> asleep, awake;
  director.serve_while([&] {
    Wire wire;
    std::minstd_rand random(1);
    for (std::uint32_t n = 0; n < packets; ++n) {
      // Until it sleeps as deep as it ever does, and at no fixed place in it.
      std::this_thread::sleep_for(std::chrono::microseconds(150'000 + random() % 1000));
      asleep.push_back(wire.pass());
      awake.push_back(wire.pass());
    }
  });
  const double per_us = cycles_per_ns() * 1000;
  std::sort(asleep.begin(), asleep.end());
  return {median(asleep) / per_us, asleep[asleep.size() * 99 / 100] / per_us, median(awake) / per_us};
}

}  // namespace guideway::bench
