// Which hops a packet gets, and what the flow table learns from it (design sections 2, 3 and 5).
#include <gtest/gtest.h>

#include <random>

#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

constexpr MemberIndex none = no_member;

class FlowRules : public ::testing::Test {
 protected:
  // The hops of a packet, as slots; empty when it was not forwarded.
  std::vector<int> send(std::uint8_t flags, std::uint16_t source_port = 40000) {
    return hops(director.run(frame(ip({}, tcp({.source_port = source_port, .flags = flags})))));
  }
  std::vector<int> send_udp(std::uint16_t source_port = 40000) {
    Ip header;
    header.protocol = net::protocol_udp;
    return hops(director.run(frame(ip(header, udp({.source_port = source_port, .destination_port = 53})))));
  }
  // Read from the frame that left: backend i has the address 10.0.1.(11+i).
  static std::vector<int> hops(const Outcome& outcome) {
    if (outcome.verdict != Verdict::forward) return {};
    std::vector<int> out = {outcome.frame[14 + 19] - 11};
    const std::size_t count = outcome.frame[14 + 28 + 7];
    for (std::size_t i = 0; i < count; ++i) out.push_back(outcome.frame[14 + 36 + 4 * i + 3] - 11);
    return out;
  }
  void rows(std::array<MemberIndex, 3> hop, std::uint16_t takes_new = 1) {
    director.rows.assign(251, Row{hop, takes_new});
  }
  SnapshotBackend& backend(std::size_t i) { return director.pool.backends[i]; }
  std::uint64_t created() { return director.counters.verdicts.flows_created.get(); }

  DirectorForTests director;
};

using Hops = std::vector<int>;

TEST_F(FlowRules, AMissGoesToTheRowsHopsInOrder) {
  rows({3, 1, 0});
  EXPECT_EQ(send(tcp_ack), Hops({3, 1, 0}));
  rows({3, 1, none});
  EXPECT_EQ(send(tcp_ack), Hops({3, 1}));
  rows({3, none, none});
  EXPECT_EQ(send(tcp_ack), Hops({3}));
}

TEST_F(FlowRules, AFlowStaysWhenItsRowChanges) {
  EXPECT_EQ(send(tcp_syn), Hops({0, 1, 2}));
  rows({1, 2, 3});
  EXPECT_EQ(send(tcp_ack), Hops({0, 1, 2}));
  rows({1, 0, 2});
  EXPECT_EQ(send(tcp_ack), Hops({0, 1, 2}));
  rows({1, 2, none});
  EXPECT_EQ(send(tcp_ack), Hops({0, 1}));  // as many hops as the row has
  rows({1, none, none});
  EXPECT_EQ(send(tcp_ack), Hops({0}));
  EXPECT_EQ(director.counters.backend(BackendId(0)).tracked_packets.get(), 4U);
}

TEST_F(FlowRules, ASynDecidesAnewOnAKnownTuple) {
  for (const std::uint8_t flags :
       std::initializer_list<std::uint8_t>{0x02, 0x02 | 0x40 | 0x80, 0x02 | 0x08}) {  // plain, ECN setup, PSH
    rows({0, 1, 2});
    send(tcp_syn);
    rows({1, 0, 2});
    EXPECT_EQ(send(flags), Hops({1, 0, 2}));
    EXPECT_EQ(send(tcp_ack), Hops({1, 0, 2}));
  }
}

TEST_F(FlowRules, ASynAckIsNoSyn) {
  send(tcp_syn);
  rows({1, 2, 3});
  EXPECT_EQ(send(tcp_syn | tcp_ack), Hops({0, 1, 2}));
}

TEST_F(FlowRules, OnlySynAndUdpCreateEntries) {
  send(tcp_ack);
  send(tcp_syn | tcp_ack);
  send(tcp_fin | tcp_ack);
  send(tcp_rst);
  EXPECT_EQ(created(), 0U);
  send(tcp_syn);
  send_udp();
  EXPECT_EQ(created(), 2U);
  EXPECT_EQ(director.counters.backend(BackendId(0)).new_flows.get(), 2U);
  EXPECT_EQ(director.counters.service(ServiceId(0)).new_flows.get(), 1U);
  EXPECT_EQ(director.counters.service(ServiceId(1)).new_flows.get(), 1U);
}

TEST_F(FlowRules, WithoutAFlowTableEveryPacketGoesByItsRow) {
  director.pool.flow_table = false;
  send(tcp_syn);
  rows({1, 0, 2});
  EXPECT_EQ(send(tcp_ack), Hops({1, 0, 2}));
  send_udp();
  EXPECT_EQ(created(), 0U);
}

TEST_F(FlowRules, ADrainingBackendKeepsItsFlows) {
  send(tcp_syn);
  send_udp();
  rows({1, 0, 2});  // as the rows are while 0 drains
  EXPECT_EQ(send(tcp_ack), Hops({0, 1, 2}));
  EXPECT_EQ(send_udp(), Hops({0, 1, 2}));
  EXPECT_EQ(send(tcp_syn, 40001), Hops({1, 0, 2}));
}

TEST_F(FlowRules, ADisabledBackendLosesItsFlowsForGood) {
  send(tcp_syn);
  rows({1, 2, none});
  backend(0).keeps_tcp = backend(0).keeps_udp = false;
  EXPECT_EQ(send(tcp_ack), Hops({1, 2}));
  rows({1, 2, none});
  backend(0).keeps_tcp = backend(0).keeps_udp = true;
  EXPECT_EQ(send(tcp_ack), Hops({1, 2}));
}

// The entries of a burst are looked up together: the second packet of a flow has one that the first one erased.
TEST_F(FlowRules, TwoPacketsOfABurstLoseTheirFlowOnce) {
  std::vector<Bytes> burst;
  for (std::uint16_t port = 1; port <= 16; ++port) {
    send(tcp_syn, port);
    const Bytes packet = frame(ip({}, tcp({.source_port = port, .flags = tcp_ack})));
    burst.insert(burst.end(), {packet, packet});
  }
  send(tcp_syn, 17);
  rows({1, 2, none});
  backend(0).keeps_tcp = false;
  for (const Outcome& outcome : director.run(burst)) EXPECT_EQ(hops(outcome), Hops({1, 2}));
  EXPECT_EQ(director.flows.table.count(BackendId(0), director.now_ms, 60'000).all(), 1U);
  backend(0).keeps_tcp = true;
  for (const Outcome& outcome : director.run(burst)) EXPECT_EQ(hops(outcome), Hops({1, 2}));
  EXPECT_EQ(send(tcp_ack, 17), Hops({0, 1}));
}

TEST_F(FlowRules, ABackendThatLeftIsForgotten) {
  send(tcp_syn);
  send_udp();
  backend(0).id = BackendId(9);  // the same name and address, added again
  rows({1, 2, none});
  EXPECT_EQ(send(tcp_ack), Hops({1, 2}));
  EXPECT_EQ(send_udp(), Hops({1, 2}));
  EXPECT_EQ(director.flows.table.count(BackendId(0), director.now_ms, 60'000).all(), 0U);
}

TEST_F(FlowRules, ADownBackendKeepsTcpAndLosesUdp) {
  send(tcp_syn);
  send_udp();
  rows({1, 2, 0});  // down ones last
  backend(0).keeps_udp = false;
  EXPECT_EQ(send(tcp_ack), Hops({0, 1, 2}));
  EXPECT_EQ(send_udp(), Hops({1, 2, 0}));
  backend(0).keeps_udp = true;
  EXPECT_EQ(send_udp(), Hops({1, 2, 0}));  // the flow moved and stays
}

// Ten times the table's size, from everywhere; the flows in it go on where they were, though the rows have changed.
TEST_F(FlowRules, AFloodOfSynsHarmsNoEstablishedFlow) {
  DirectorForTests flooded(Family::ipv4, 1024);
  constexpr std::uint16_t flows = 400;
  const auto packet = [](std::uint16_t port, std::uint8_t flags) {
    return frame(ip({}, tcp({.source_port = port, .flags = flags})));
  };
  for (std::uint16_t port = 1; port <= flows; ++port) {
    flooded.run(packet(port, tcp_syn));
    flooded.run(packet(port, tcp_ack));
  }
  flooded.rows.assign(251, Row{{3, 0, no_member}, 1});
  std::mt19937 random(11);
  std::vector<Bytes> burst;
  for (std::size_t n = 0; n < 10 * 1024; ++n) {
    Ip header;
    const std::uint32_t source = 0x0a000000U | (static_cast<std::uint32_t>(random()) & 0xffffffU);
    net::store_be32(header.source.bytes.data(), source);
    burst.push_back(
        frame(ip(header, tcp({.source_port = static_cast<std::uint16_t>(random()), .flags = tcp_syn}))));
    if (burst.size() < burst_max) continue;
    for (const Outcome& outcome : flooded.run(burst))
      ASSERT_EQ(outcome.verdict, Verdict::forward) << "full is no drop";
    burst.clear();
    ++flooded.now_ms;
  }
  for (std::uint16_t port = 1; port <= flows; ++port) {
    EXPECT_EQ(hops(flooded.run(packet(port, tcp_ack))), (Hops{0, 3}))
        << "flow " << port << " has lost its backend";
  }
}

TEST_F(FlowRules, TimeoutsOfTheClasses) {
  FlowTimeouts& timeouts = director.pool.timeouts;
  timeouts = {.fresh_ms = 1000, .established_ms = 10'000, .closing_ms = 3000, .udp_ms = 5000};
  struct Case {
    const char* description;
    std::vector<std::uint8_t> flags;
    std::uint32_t lasts_ms;
  };
  const std::vector<Case> cases = {
      {"fresh", {tcp_syn}, 1000},
      {"a second SYN keeps it fresh", {tcp_syn, tcp_syn}, 1000},
      {"established", {tcp_syn, tcp_ack}, 10'000},
      {"a SYN that changes nothing leaves it established", {tcp_syn, tcp_ack, tcp_syn}, 10'000},
      {"a SYN+ACK leaves it fresh", {tcp_syn, tcp_syn | tcp_ack}, 1000},
      {"a SYN+ACK leaves it established", {tcp_syn, tcp_ack, tcp_syn | tcp_ack}, 10'000},
      {"a SYN+ACK does not revive it after a RST", {tcp_syn, tcp_ack, tcp_rst, tcp_syn | tcp_ack}, 3000},
      {"FIN", {tcp_syn, tcp_ack, tcp_fin | tcp_ack}, 3000},
      {"SYN+FIN+ACK is no FIN", {tcp_syn, tcp_ack, tcp_syn | tcp_fin | tcp_ack}, 10'000},
      {"the last ACK behind a FIN", {tcp_syn, tcp_ack, tcp_fin | tcp_ack, tcp_ack}, 3000},
      {"RST", {tcp_syn, tcp_ack, tcp_rst}, 3000},
      {"a flow that goes on after a RST", {tcp_syn, tcp_ack, tcp_rst, tcp_ack}, 10'000},
  };
  std::uint16_t port = 1000;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    // A flow that goes on may last a second longer, as not every packet puts its end off; others end in time.
    const std::uint32_t slack = c.lasts_ms == timeouts.established_ms ? 1024 : 0;
    for (const std::uint32_t later : {c.lasts_ms - 100, c.lasts_ms + slack + 100}) {
      rows({0, 1, 2});
      ++port;
      for (const std::uint8_t flags : c.flags) send(flags, port);
      rows({1, 2, 3});
      director.now_ms += later;
      EXPECT_EQ(send(tcp_ack, port), later < c.lasts_ms ? Hops({0, 1, 2}) : Hops({1, 2, 3}));
    }
  }
  rows({0, 1, 2});
  send_udp();
  rows({1, 2, 3});
  director.now_ms += 4900;
  EXPECT_EQ(send_udp(), Hops({0, 1, 2}));
  director.now_ms += 5000 + 5000 / 8 + 100;
  EXPECT_EQ(send_udp(), Hops({1, 2, 3}));
}

// The shortest timeouts that a site may set: a flow that goes on stays one flow.
TEST_F(FlowRules, AShortTimeoutKeepsAFlowThatGoesOn) {
  for (const std::uint32_t timeout : {100U, 1000U, 2000U}) {
    SCOPED_TRACE(timeout);
    director.pool.timeouts = {timeout, timeout, timeout, timeout};
    rows({0, 1, 2});
    const auto port = static_cast<std::uint16_t>(2000 + timeout);
    send_udp(port);
    send(tcp_syn, port);
    rows({1, 2, 3});
    for (int packet = 0; packet < 20; ++packet) {
      director.now_ms += timeout * 9 / 10;
      EXPECT_EQ(send_udp(port), Hops({0, 1, 2}));
      EXPECT_EQ(send(tcp_ack, port), Hops({0, 1, 2}));
    }
  }
}

// Where one hop is named, a packet in mid-flow is learned; a SYN+ACK alone as fresh, so that it can be evicted.
TEST_F(FlowRules, ALearnedSynAckIsFresh) {
  director.pool.encapsulation = Encapsulation::ipip;
  const auto class_after = [&](std::uint8_t flags, std::uint16_t port) {
    send(flags, port);
    return director.flows.table.find_entry(director.burst.hash[0], director.now_ms).flow_class();
  };
  EXPECT_EQ(class_after(tcp_syn | tcp_ack, 1), FlowClass::fresh);
  EXPECT_EQ(class_after(tcp_ack, 2), FlowClass::established);
  EXPECT_EQ(class_after(tcp_fin | tcp_ack, 3), FlowClass::closing);
}

TEST_F(FlowRules, ClientAffinityIgnoresTheSourcePort) {
  director.pool.affinity = Affinity::client;
  for (std::size_t row = 0; row < 251; ++row)
    director.rows[row].hop = {static_cast<MemberIndex>(row % 4), none, none};
  const Hops first = send(tcp_syn, 1);
  for (std::uint16_t port = 2; port < 100; ++port) EXPECT_EQ(send(tcp_syn, port), first);
}

TEST_F(FlowRules, TheRowIsTheHashsRemainder) {
  for (std::size_t row = 0; row < 251; ++row)
    director.rows[row].hop = {static_cast<MemberIndex>(row % 4), none, none};
  for (std::uint16_t port = 1; port < 500; ++port) {
    const FlowTuple tuple{Ip{}.source, Ip{}.destination, port, 80, 6};
    const auto expected = static_cast<int>(row_hash(tuple, director.pool.seed, Affinity::flow) % 251 % 4);
    EXPECT_EQ(send(tcp_ack, port), Hops({expected}));
  }
}

// Whoever takes a backend out must hear of connections that no entry tells of.
class Strangers : public FlowRules {
 protected:
  std::uint32_t mark(unsigned backend) {
    return director.counters.marks(BackendId(backend)).stranger_ms.load();
  }
  std::uint64_t packets() { return director.counters.verdicts.strangers.get(); }
  void later(std::uint32_t ms) { director.now_ms += ms; }
};

TEST_F(Strangers, OneThatGoesOnMarksEveryHopThatMayKnowIt) {
  rows({3, 1, none});
  send(tcp_ack);
  later(StrangerTable::proof_ms - 1);
  send(tcp_ack);
  EXPECT_EQ(packets(), 0U) << "it may have got its RST";
  later(1);
  send(tcp_ack);
  EXPECT_EQ(packets(), 1U);
  EXPECT_EQ(mark(3), director.now_ms);
  EXPECT_EQ(mark(1), director.now_ms);
  EXPECT_EQ(mark(0), BackendMarks::never);
  later(60'000);
  send(tcp_ack);
  EXPECT_EQ(mark(3), director.now_ms) << "the mark is that of the last packet";
}

TEST_F(Strangers, OnePacketOfEachProvesNothing) {
  for (std::uint16_t port = 1000; port < 1100; ++port) {
    send(tcp_ack, port);
    later(StrangerTable::proof_ms);
  }
  EXPECT_EQ(packets(), 0U);
}

TEST_F(Strangers, MoreThanTheTableCanJudgeCountAsThoseThatGoOn) {
  for (std::uint16_t port = 1000; port < 30'000; ++port) send(tcp_ack, port);
  EXPECT_GT(packets(), 20'000U);
}

TEST_F(Strangers, KnownFlowsEndsAndAnswersAreNone) {
  const auto goes_on = [this](std::uint8_t flags, std::uint16_t port) {
    for (int i = 0; i < 3; ++i, later(StrangerTable::proof_ms)) send(flags, port);
  };
  send(tcp_syn, 50'000);
  goes_on(tcp_ack, 50'000);
  goes_on(tcp_rst, 50'001);
  goes_on(tcp_syn | tcp_ack, 50'002);
  goes_on(tcp_syn, 50'003);
  EXPECT_EQ(packets(), 0U);
  director.pool.flow_table = false;
  goes_on(tcp_ack, 50'004);
  EXPECT_EQ(packets(), 0U) << "a pool that counts no flows has no strangers";
  director.pool.flow_table = true;
  goes_on(tcp_ack, 50'005);
  EXPECT_EQ(packets(), 2U) << "and one that does, has";
}

TEST(FullTable, AFlowWithoutRoomMarksItsBackend) {
  DirectorForTests director(Family::ipv4, 64);
  director.rows.assign(251, Row{{2, none, none}, 1});
  for (std::uint16_t port = 1000; port < 1400; ++port) {
    for (const std::uint8_t flags : {tcp_syn, tcp_ack})
      director.run(frame(ip({}, tcp({.source_port = port, .flags = flags}))));
    if (port == 1009) {
      EXPECT_EQ(director.counters.verdicts.flows_refused.get(), 0U);
    }
  }
  EXPECT_GT(director.counters.verdicts.flows_refused.get(), 200U);
  EXPECT_NE(director.counters.marks(BackendId(2)).refused_ms.load(), BackendMarks::never);
  EXPECT_EQ(director.counters.marks(BackendId(1)).refused_ms.load(), BackendMarks::never);
}

}  // namespace
}  // namespace guideway::testing
