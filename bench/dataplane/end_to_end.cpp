#include "bench/dataplane/end_to_end.h"

#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include <cstring>

#include "bench/dataplane/clock.h"
#include "bench/dataplane/ring_director.h"

namespace guideway::bench {
namespace {

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
  const auto opened = open_ring_ports(1);
  const Ports& ports = *opened;
  Settings stateless, tracked;
  stateless.traffic.flows = 1'000'000;
  stateless.traffic.mac = ports.table().ports[0].mac;
  tracked = stateless;
  tracked.flow_table = true;
  tracked.table_flows = tracked.traffic.flows;
  RingDirector without(stateless, ports, 1), with(tracked, ports, 1);
  Wire wire(stateless.traffic, ports.pool());
  for (const Flags flags : {Flags::syn, Flags::ack})
    for (std::uint32_t flow = 0; flow < tracked.traffic.flows; flow += burst_max)
      wire.pass_in_order(flags, flow, [&] { with.round(0); });
  const std::uint16_t in = ports.all()[0].queues().front().dpdk_port,
                      out = ports.all()[1].queues().front().dpdk_port;
  const auto costs = measure<3>({[&] { wire.pass(Flags::ack, [&] { swap_macs(in, out); }); },
                                 [&] { wire.pass(Flags::ack, [&] { without.round(0); }); },
                                 [&] { wire.pass(Flags::ack, [&] { with.round(0); }); }},
                                burst_max, rounds);
  if (!without.all_forwarded() || !with.all_forwarded()) give_up("not every packet was forwarded end to end");
  return {costs[0], costs[1], costs[2]};
}

}  // namespace guideway::bench
