#include "bench/dataplane/end_to_end.h"

#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "bench/dataplane/clock.h"
#include "bench/dataplane/testbed.h"
#include "io/ports.h"
#include "io/publisher.h"
#include "io/worker.h"

namespace guideway::bench {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

rte_ring* ring_named(const std::string& name) {
  rte_ring* ring = rte_ring_lookup(name.c_str());
  if (ring == nullptr) give_up("there is no ring " + name);
  return ring;
}

DirectorConfig two_ring_ports() {
  DirectorConfig config;
  config.workers = {rte_lcore_id()};
  for (const std::string name : {"bin", "bout"}) {
    PortConfig port;
    port.name = name;
    port.device = "ring:" + name;
    config.ports.push_back(port);
  }
  return config;
}

// What stands between the ports.
class Director {
 public:
  Director(const Settings& settings, const Ports& ports)
      : publisher_(1),
        flows_(settings.table_flows, 1),
        worker_({0, rte_lcore_id(), publisher_, clock_, next_hops_, ports.table(), ports.links(0),
                 ports.pool(), Polling::busy},
                counters_, flows_, {}) {
    publisher_.publish(make_snapshot(settings, next_hops_, 1));
    publisher_.join(0);
  }
  ~Director() { publisher_.leave(0); }

  void round() {
    worker_.poll();
    publisher_.quiescent(0);
  }
  [[nodiscard]] bool all_forwarded() const {
    return counters_.verdicts.packets[static_cast<std::size_t>(Verdict::forward)].get() ==
           counters_.verdicts.packets_in.get();
  }

 private:
  QsbrPublisher publisher_;
  Clock clock_;
  NextHops next_hops_;
  WorkerCounters counters_;
  FlowState flows_;
  Worker worker_;
};

// The rings' far ends: a driver's NIC.
class Wire {
 public:
  Wire(const TrafficRules& rules, rte_mempool* mbufs)
      : traffic_(rules, mbufs), to_worker_(ring_named("bin_rx0")), from_worker_(ring_named("bout_tx0")) {}

  template <class Round>
  void pass(Flags flags, Round round) {
    traffic_.receive(burst_, flags);
    exchange(round);
  }
  template <class Round>
  void pass_in_order(Flags flags, std::uint32_t first, Round round) {
    traffic_.receive_in_order(burst_, flags, first);
    exchange(round);
  }

 private:
  template <class Round>
  void exchange(Round round) {
    rte_ring_enqueue_bulk(to_worker_, reinterpret_cast<void**>(burst_.packets.data()), burst_max, nullptr);
    round();
    if (rte_ring_dequeue_bulk(from_worker_, reinterpret_cast<void**>(burst_.packets.data()), burst_max,
                              nullptr) != burst_max)
      give_up("a packet got lost between the ports");
  }
  Traffic traffic_;
  rte_ring *to_worker_, *from_worker_;
  Burst burst_;
};

// The least that sends a frame back: what testpmd calls macswap.
void swap_macs(std::uint16_t in, std::uint16_t out) {
  std::array<rte_mbuf*, burst_max> packets;
  const std::uint16_t count = rte_eth_rx_burst(in, 0, packets.data(), burst_max);
  for (std::size_t i = 0; i < count; ++i) rte_prefetch0(rte_pktmbuf_mtod(packets[i], void*));
  for (std::size_t i = 0; i < count; ++i) {
    auto* frame = rte_pktmbuf_mtod(packets[i], std::uint8_t*);
    std::array<std::uint8_t, 6> destination;
    std::memcpy(destination.data(), frame, 6);
    std::memcpy(frame, frame + 6, 6);
    std::memcpy(frame + 6, destination.data(), 6);
  }
  rte_eth_tx_burst(out, 0, packets.data(), count);
}

}  // namespace

EndToEnd run_end_to_end(std::size_t rounds) {
  auto opened = Ports::open(two_ring_ports());
  if (!opened) give_up(opened.error().text());
  const Ports& ports = **opened;
  Settings stateless, tracked;
  stateless.traffic.flows = 1'000'000;
  stateless.traffic.mac = ports.table().ports[0].mac;
  tracked = stateless;
  tracked.flow_table = true;
  tracked.table_flows = tracked.traffic.flows;
  Director without(stateless, ports), with(tracked, ports);
  Wire wire(stateless.traffic, ports.pool());
  for (const Flags flags : {Flags::syn, Flags::ack})
    for (std::uint32_t flow = 0; flow < tracked.traffic.flows; flow += burst_max)
      wire.pass_in_order(flags, flow, [&] { with.round(); });
  const std::uint16_t in = ports.all()[0].queues().front().dpdk_port,
                      out = ports.all()[1].queues().front().dpdk_port;
  const auto costs = measure<3>({[&] { wire.pass(Flags::ack, [&] { swap_macs(in, out); }); },
                                 [&] { wire.pass(Flags::ack, [&] { without.round(); }); },
                                 [&] { wire.pass(Flags::ack, [&] { with.round(); }); }},
                                burst_max, rounds);
  if (!without.all_forwarded() || !with.all_forwarded()) give_up("not every packet was forwarded end to end");
  return {costs[0], costs[1], costs[2]};
}

}  // namespace guideway::bench
