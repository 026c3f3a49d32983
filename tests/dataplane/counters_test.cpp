// What backends and services count: packets that left, and nothing that was dropped behind the choice.
#include <gtest/gtest.h>

#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

Bytes tcp_frame(std::uint16_t port, std::uint8_t flags) {
  return frame(ip({}, tcp({.source_port = port, .flags = flags})));
}
Bytes udp_frame(std::uint16_t port) {
  Ip header;
  header.protocol = net::protocol_udp;
  return frame(ip(header, udp({.source_port = port, .destination_port = 53})));
}

std::vector<Bytes> syns(std::uint16_t count) {
  std::vector<Bytes> out;
  for (std::uint16_t n = 0; n < count; ++n)
    out.push_back(tcp_frame(static_cast<std::uint16_t>(4000 + n), tcp_syn));
  return out;
}

TEST(Counters, OfAFullQueueOnlyWhatItTook) {
  DirectorForTests director;
  director.run(syns(20), {.port_takes = 5});
  EXPECT_EQ(director.count(Verdict::forward), 5U);
  EXPECT_EQ(director.count(Verdict::drop_tx_full), 15U);
  EXPECT_EQ(director.of_backends(&BackendCounters::packets), 5U);
  EXPECT_EQ(director.of_services(&ServiceCounters::packets), 5U);
  EXPECT_EQ(director.of_backends(&BackendCounters::new_flows), 5U);
  EXPECT_EQ(director.of_backends(&BackendCounters::bytes), 5U * (20 + 20 + 8));
}

TEST(Counters, ATrackedPacketThatIsDroppedIsNotOne) {
  DirectorForTests director;
  director.run(tcp_frame(4000, tcp_syn));
  director.run(tcp_frame(4000, tcp_ack), {.port_takes = 0});
  EXPECT_EQ(director.of_backends(&BackendCounters::tracked_packets), 0U);
  director.run(tcp_frame(4000, tcp_ack));
  EXPECT_EQ(director.of_backends(&BackendCounters::tracked_packets), 1U);
  EXPECT_EQ(director.of_backends(&BackendCounters::packets), 2U);
}

struct Obstacle {
  const char* description;
  std::function<void(DirectorForTests&)> put, clear;
};

// A flow whose first packets go nowhere is no flow yet: it counts, and is tied to its backend, once one gets through.
TEST(Counters, AFlowIsNewWhenItsFirstPacketLeaves) {
  const auto next_hop = [](DirectorForTests& d, NextHop to) {
    d.next_hops.set(d.pool.backends[0].next_hop, to);
  };
  const NextHop resolved{NextHop::State::resolved, DirectorForTests::lan, DirectorForTests::backend_mac(0)};
  const auto resolve = [=](DirectorForTests& d) { next_hop(d, resolved); };
  const auto mtu = [](std::uint16_t value) {
    return [=](DirectorForTests& d) { d.ports.ports[DirectorForTests::lan].mtu = value; };
  };
  const std::vector<Obstacle> obstacles = {
      {"no MAC yet", [=](auto& d) { next_hop(d, {}); }, resolve},
      {"its port is down",
       [=](auto& d) {
         next_hop(d, {NextHop::State::port_down, 1, {}});
       },
       resolve},
      {"the link is down", [](auto& d) { d.ports.ports[1].link_up = false; },
       [](auto& d) { d.ports.ports[1].link_up = true; }},
      {"too big", mtu(60), mtu(1500)},
  };
  for (const Obstacle& obstacle : obstacles) {
    SCOPED_TRACE(obstacle.description);
    DirectorForTests director;
    const auto new_flows = [&] { return director.of_backends(&BackendCounters::new_flows); };
    const auto created = [&] { return director.counters.verdicts.flows_created.get(); };
    obstacle.put(director);
    for (int sent = 0; sent < 2; ++sent) {
      director.run(tcp_frame(4000, tcp_syn));
      director.run(udp_frame(4000));
    }
    EXPECT_EQ(new_flows(), 0U);
    EXPECT_EQ(created(), 0U);
    director.rows.assign(251, Row{{1, 0, 2}, 1});
    obstacle.clear(director);
    director.run(tcp_frame(4000, tcp_syn));
    director.run(udp_frame(4000));
    director.run(udp_frame(4000));
    EXPECT_EQ(new_flows(), 2U);
    EXPECT_EQ(created(), 2U);
    EXPECT_EQ(director.counters.backend(BackendId(1)).packets.get(), 3U) << "a packet that never left chose";
  }
}

// As many as the table gets, though each packet of a burst is asked about before the first one is learned.
TEST(Counters, OfAUdpFlowThatComesInOneBurst) {
  DirectorForTests director;
  director.run({udp_frame(4000), udp_frame(4001), udp_frame(4000), udp_frame(4000)});
  EXPECT_EQ(director.of_backends(&BackendCounters::new_flows), 2U);
  EXPECT_EQ(director.counters.verdicts.flows_created.get(), 2U);
}

// A SYN that was dropped has not begun a new connection: the old one on its tuple goes on where it is.
TEST(Counters, ADroppedSynMovesNoFlow) {
  DirectorForTests director;
  director.run(tcp_frame(4000, tcp_syn));
  director.run(tcp_frame(4000, tcp_ack));
  director.rows.assign(251, Row{{1, 0, 2}, 1});
  director.next_hops.set(director.pool.backends[1].next_hop, {});
  EXPECT_EQ(director.run(tcp_frame(4000, tcp_syn)).verdict, Verdict::drop_next_hop_unresolved);
  director.run(tcp_frame(4000, tcp_ack));
  EXPECT_EQ(director.counters.backend(BackendId(0)).packets.get(), 3U);
}

}  // namespace
}  // namespace guideway::testing
