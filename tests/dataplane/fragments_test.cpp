// Fragments: later ones go where their first one went, early ones wait for it, overlapping ones go nowhere.
#include "tests/dataplane/fragments_for_tests.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

constexpr Family both_families[] = {Family::ipv4, Family::ipv6};

Ip sender(Family family, std::uint16_t id = 0x1234) {
  Ip header = family == Family::ipv4 ? Ip{} : ipv6();
  header.id = id;
  return header;
}

Bytes datagram(std::uint16_t source_port, std::size_t size) {
  return udp({.source_port = source_port, .destination_port = 53, .payload = Bytes(size - 8, 'd')});
}

Ip udp_sender(Family family, std::uint16_t id = 0x1234) {
  Ip header = sender(family, id);
  header.protocol = net::protocol_udp;
  return header;
}

// Every row another backend.
void spread(DirectorForTests& director) {
  for (std::size_t row = 0; row < director.rows.size(); ++row)
    director.rows[row] = {
        {static_cast<MemberIndex>(row % 4), static_cast<MemberIndex>((row + 1) % 4), no_member}, 1};
}

int slot_of(const Outcome& outcome) {
  return outcome.verdict == Verdict::forward ? outcome.frame[14 + 19] - 11 : -1;
}

std::string names_of(const std::vector<Outcome>& outcomes) {
  std::string out;
  for (const Outcome& outcome : outcomes)
    out += (out.empty() ? "" : " ") + std::string(name(outcome.verdict));
  return out;
}

// The inner packet of a frame that left, byte for byte as it came.
void expect_inner(const Outcome& outcome, const Bytes& came) {
  ASSERT_EQ(outcome.verdict, Verdict::forward);
  const auto size = static_cast<std::ptrdiff_t>(came.size() - 14);
  EXPECT_EQ(Bytes(outcome.frame.end() - size, outcome.frame.end()), Bytes(came.begin() + 14, came.end()));
}

TEST(Fragments, FollowTheFirstInAnyOrder) {
  for (const Family family : both_families) {
    DirectorForTests director;
    spread(director);
    for (std::uint16_t port = 1000; port < 1040; ++port) {
      const Outcome whole = director.run(frame(ip(udp_sender(family), datagram(port, 800))));
      std::vector<Bytes> frames = fragments(udp_sender(family, port), datagram(port, 800), 200);
      ASSERT_EQ(frames.size(), 4U);
      std::vector<std::size_t> order{0, 1, 2, 3};
      for (unsigned skip = port % 24; skip > 0; --skip) std::next_permutation(order.begin(), order.end());
      // Each alone, and all in one burst under the next id.
      const std::size_t before = director.packets();
      for (const std::size_t i : order) director.run(frames[i]);
      for (std::size_t i = 0; i < 4; ++i) {
        const Outcome& outcome = director.outcome(before + i);
        EXPECT_EQ(slot_of(outcome), slot_of(whole));
        expect_inner(outcome, frames[order[i]]);
      }
      frames =
          fragments(udp_sender(family, static_cast<std::uint16_t>(port + 5000)), datagram(port, 800), 200);
      std::vector<Bytes> burst;
      for (const std::size_t i : order) burst.push_back(frames[i]);
      for (const Outcome& outcome : director.run(burst)) EXPECT_EQ(slot_of(outcome), slot_of(whole));
    }
    EXPECT_EQ(director.count(Verdict::held), 0U);
  }
}

TEST(Fragments, FollowTheFirstThroughAChangeOfTheRows) {
  for (const bool flow_table : {true, false}) {
    for (const Family family : both_families) {
      DirectorForTests director;
      director.pool.flow_table = flow_table;
      const auto frames = fragments(udp_sender(family), datagram(1000, 800), 400);
      EXPECT_EQ(slot_of(director.run(frames[0])), 0);
      director.rows.assign(251, Row{{3, 0, no_member}, 1});
      EXPECT_EQ(slot_of(director.run(frames[1])), 0);
    }
  }
}

TEST(Fragments, OfASplitSyn) {
  for (const Family family : both_families) {
    DirectorForTests director;
    const Bytes syn = tcp({.flags = tcp_syn, .payload = Bytes(100)});
    const auto frames = fragments(sender(family), syn, 24);
    EXPECT_EQ(director.run(frames).at(0).verdict, Verdict::forward);
    EXPECT_EQ(director.count(Verdict::forward), frames.size());
    EXPECT_EQ(director.counters.verdicts.flows_created.get(), 1U);
    EXPECT_EQ(director.of_backends(&BackendCounters::new_flows), 1U);
    // Its later pieces are no later packets: the entry stays one that a flood may evict.
    director.now_ms += director.pool.timeouts.fresh_ms + 100;
    director.rows.assign(251, Row{{3, 0, no_member}, 1});
    EXPECT_EQ(slot_of(director.run(frame(ip(sender(family), tcp({.flags = tcp_ack}))))), 3);
  }
}

TEST(Fragments, AreNoFlowOfTheirOwn) {
  DirectorForTests director;
  director.run(fragments(udp_sender(Family::ipv4), datagram(1000, 800), 200));
  EXPECT_EQ(director.counters.verdicts.flows_created.get(), 1U);
  EXPECT_EQ(director.of_backends(&BackendCounters::new_flows), 1U);
}

TEST(Fragments, WaitTwoSecondsAndAreDroppedThen) {
  for (const Family family : both_families) {
    DirectorForTests director;
    const auto frames = fragments(udp_sender(family), datagram(1000, 800), 200);
    EXPECT_EQ(director.run(frames[1]).verdict, Verdict::held);
    director.now_ms += 1999;
    director.poll();
    EXPECT_EQ(director.count(Verdict::held), 1U);
    EXPECT_EQ(director.run(frames[2]).verdict, Verdict::held);
    director.now_ms += 2;
    director.poll();
    EXPECT_EQ(director.count(Verdict::held), 1U);
    EXPECT_EQ(director.count(Verdict::drop_fragment), 1U);
    director.now_ms += 2000;
    director.poll();
    EXPECT_EQ(director.count(Verdict::held), 0U);
    EXPECT_EQ(director.count(Verdict::drop_fragment), 2U);
  }
}

TEST(Fragments, TheFateOfTheFirstIsThatOfAll) {
  struct Case {
    const char* description;
    void (*prepare)(DirectorForTests&);
    std::string_view first, later;
  };
  const Case cases[] = {
      {"nobody takes new flows",
       [](DirectorForTests& d) {
         d.rows.assign(251, Row{{0, no_member, no_member}, 0});
       },
       "no_backend_udp", "fragment"},
      {"no such port, to the kernel",
       [](DirectorForTests& d) {
         d.rules[1].ports = d.rules[3].ports = {{54, 54}};
       },
       "kernel", "kernel"},
      {"no such port, dropped",
       [](DirectorForTests& d) {
         d.rules[1].ports = d.rules[3].ports = {{54, 54}};
         for (ServiceRule& rule : d.rules) rule.unmatched_drop = true;
       },
       "unmatched", "fragment"},
      {"not to us",
       [](DirectorForTests& d) {
         for (ServiceRule& rule : d.rules) rule.address.bytes[0] ^= 1;
       },
       "kernel", "kernel"},
  };
  for (const Case& c : cases) {
    for (const Family family : both_families) {
      for (const bool reversed : {false, true}) {
        DirectorForTests director;
        c.prepare(director);
        auto frames = fragments(udp_sender(family), datagram(1000, 800), 400);
        if (reversed) std::swap(frames[0], frames[1]);
        for (const Bytes& bytes : frames) director.run(bytes);
        EXPECT_EQ(name(director.outcome(reversed ? 1 : 0).verdict), c.first) << c.description;
        if (!reversed) {
          EXPECT_EQ(name(director.outcome(1).verdict), c.later) << c.description;
        } else if (c.later == "fragment") {
          EXPECT_EQ(director.count(Verdict::drop_fragment), 1U) << c.description;
        } else {
          EXPECT_EQ(director.count(Verdict::kernel), 2U) << c.description;
        }
      }
    }
  }
}

TEST(Fragments, ThatOverlapEndTheirDatagram) {
  for (const Family family : both_families) {
    const Bytes whole = datagram(1000, 800);
    const auto part = [&](std::size_t from, std::size_t to) {
      return frame(fragment(udp_sender(family), whole, from, to));
    };
    struct Case {
      const char* description;
      std::vector<Bytes> frames;
      std::string_view expected;
    };
    const Case cases[] = {
        {"over the first one's end",
         {part(0, 400), part(392, 800), part(400, 800)},
         "forward fragment_overlap fragment"},
        {"the same again is dropped alone",
         {part(0, 400), part(0, 400), part(400, 800)},
         "forward fragment_overlap forward"},
        {"within what came is dropped alone",
         {part(0, 400), part(8, 16), part(400, 800)},
         "forward fragment_overlap forward"},
        {"one that waits is dropped too",
         {part(400, 800), part(392, 408), part(0, 392)},
         "held fragment_overlap fragment"},
        {"another end",
         {part(0, 400), part(600, 800), frame(fragment(udp_sender(family), datagram(1000, 600), 400, 600))},
         "forward forward fragment_overlap"},
    };
    for (const Case& c : cases) {
      DirectorForTests director;
      std::vector<Outcome> outcomes;
      for (const Bytes& bytes : c.frames) outcomes.push_back(director.run(bytes));
      EXPECT_EQ(names_of(outcomes), c.expected) << c.description;
      EXPECT_EQ(director.count(Verdict::held), 0U) << c.description;
    }
  }
}

TEST(Fragments, ThatGoBeyondTheEnd) {
  DirectorForTests director;
  const Bytes whole = datagram(1000, 800), longer = datagram(1000, 1000);
  const Ip header = udp_sender(Family::ipv4);
  EXPECT_EQ(director.run(frame(fragment(header, whole, 0, 400))).verdict, Verdict::forward);
  EXPECT_EQ(director.run(frame(fragment(header, whole, 600, 800))).verdict, Verdict::forward);
  EXPECT_EQ(director.run(frame(fragment(header, longer, 800, 1000))).verdict, Verdict::drop_fragment_overlap);
  EXPECT_EQ(director.run(frame(fragment(header, whole, 400, 600))).verdict, Verdict::drop_fragment);
}

TEST(Fragments, ThatLieAboutThemselves) {
  for (const Family family : both_families) {
    const auto verdict_of = [&](const Ip& header, const Bytes& l4, std::size_t from, std::size_t to) {
      DirectorForTests director;
      return std::string(name(director.run(frame(fragment(header, l4, from, to))).verdict));
    };
    const Bytes whole = datagram(1000, 800);
    const Bytes segment = tcp({.payload = Bytes(200)});
    EXPECT_EQ(verdict_of(udp_sender(family), whole, 0, 4), "tiny_fragment");
    EXPECT_EQ(verdict_of(sender(family), segment, 0, 16), "tiny_fragment");
    EXPECT_EQ(verdict_of(sender(family), segment, 8, 200), "tiny_fragment")
        << "it would write over the flags";
    EXPECT_EQ(verdict_of(udp_sender(family), whole, 0, 401), "bad_ip_length") << "no multiple of eight";
    EXPECT_EQ(verdict_of(udp_sender(family), whole, 400, 400), "bad_ip_length") << "nothing in it";
    EXPECT_EQ(verdict_of(udp_sender(family), Bytes(65536 + 8), 65528, 65536 + 8), "bad_ip_length")
        << "beyond what IP can number";
  }
}

TEST(Fragments, AnAtomicOneIsAWholePacket) {
  DirectorForTests director;
  EXPECT_EQ(director.run(frame(fragment(sender(Family::ipv6), tcp(), 0, tcp().size()))).verdict,
            Verdict::forward);
  EXPECT_EQ(director.run(frame(fragment(sender(Family::ipv6), tcp(), 0, tcp().size()))).verdict,
            Verdict::forward);
}

TEST(Fragments, AnIdMayBeUsedAgainOnceItsDatagramIsWhole) {
  for (const Family family : both_families) {
    DirectorForTests director;
    for (int round = 0; round < 5; ++round)
      for (const Outcome& outcome : director.run(fragments(udp_sender(family), datagram(1000, 800), 400)))
        EXPECT_EQ(outcome.verdict, Verdict::forward);
  }
}

// Fragments of one id, but of another protocol or from somebody else.
TEST(Fragments, OfOthersAreNotTheirs) {
  DirectorForTests director;
  const Bytes whole = datagram(1000, 800);
  EXPECT_EQ(director.run(frame(fragment(udp_sender(Family::ipv4), whole, 0, 400))).verdict, Verdict::forward);
  EXPECT_EQ(director.run(frame(fragment(sender(Family::ipv4), whole, 400, 800))).verdict, Verdict::held);
  Ip other = udp_sender(Family::ipv4);
  other.source = address("198.51.100.8");
  EXPECT_EQ(director.run(frame(fragment(other, whole, 400, 800))).verdict, Verdict::held);
  EXPECT_EQ(director.run(frame(fragment(udp_sender(Family::ipv4, 7), whole, 400, 800))).verdict,
            Verdict::held);
  EXPECT_EQ(director.run(frame(fragment(udp_sender(Family::ipv4), whole, 400, 800))).verdict,
            Verdict::forward);
}

// IPv6 lets the protocol in the fragment headers of one datagram differ: only the first one's counts.
TEST(Fragments, WithOptionsBehindTheFragmentHeader) {
  DirectorForTests director;
  Bytes l4 = {net::protocol_udp, 0, 1, 4, 0, 0, 0, 0};  // destination options in the fragmentable part
  append(l4, datagram(1000, 800));
  Ip header = udp_sender(Family::ipv6);
  header.protocol = net::protocol_destination_options;
  const auto frames = fragments(header, l4, 400);
  EXPECT_EQ(names_of(director.run(frames)), "forward forward forward");
  Ip later = header;
  later.protocol = net::protocol_udp;
  later.id = 9;
  header.id = 9;
  EXPECT_EQ(director.run(frame(fragment(header, l4, 0, 400))).verdict, Verdict::forward);
  EXPECT_EQ(director.run(frame(fragment(later, l4, 400, l4.size()))).verdict, Verdict::forward);
}

TEST(Fragments, OfIcmpGoByTheAddressAlone) {
  for (const auto& [ping, expected] : {std::pair{Ping::answer, "fragment fragment"},
                                       {Ping::kernel, "kernel kernel"},
                                       {Ping::forward, "forward forward"}}) {
    for (const Family family : both_families) {
      DirectorForTests director;
      for (ServiceRule& rule : director.rules) rule.ping = static_cast<std::uint8_t>(ping);
      Ip header = sender(family);
      header.protocol = family == Family::ipv4 ? net::protocol_icmp : net::protocol_icmpv6;
      Bytes echo(800);
      echo[0] = family == Family::ipv4 ? 8 : 128;
      EXPECT_EQ(names_of(director.run(fragments(header, echo, 400))), expected);
    }
  }
}

// Whatever a flow has that hash.
TEST(Fragments, OfIcmpAskNoFlowTable) {
  DirectorForTests director;
  for (ServiceRule& rule : director.rules) rule.ping = static_cast<std::uint8_t>(Ping::forward);
  Ip header = sender(Family::ipv4);
  header.protocol = net::protocol_icmp;
  Bytes echo(800);
  echo[0] = 8;
  const Bytes first = fragments(header, echo, 400)[0];
  const Bytes left = director.run(first).frame;
  ASSERT_FALSE(left.empty());
  for (std::uint32_t backend = 0; backend < director.pool.backends.size(); ++backend) {
    director.flows.table.insert(director.burst.hash[0], BackendId{backend}, FlowClass::established,
                                director.now_ms, 60'000);
    EXPECT_EQ(director.run(first).frame, left);
  }
}

TEST(Fragments, AFloodOfThemHarmsNobodyElse) {
  DirectorForTests director(Family::ipv4, 1024);
  const Bytes whole = datagram(1000, 800);
  const std::size_t established = director.packets();
  director.run(frame(ip(sender(Family::ipv4), tcp({.flags = tcp_syn}))));
  director.run(frame(ip(sender(Family::ipv4), tcp())));
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    Ip header = udp_sender(Family::ipv4, static_cast<std::uint16_t>(random()));
    header.source.bytes[3] = static_cast<std::uint8_t>(random());
    director.run(frame(fragment(header, whole, 400, 800)));
  }
  EXPECT_EQ(director.count(Verdict::held), FragmentTable::held_max);
  director.rows.assign(251, Row{{3, 0, no_member}, 1});
  EXPECT_EQ(slot_of(director.run(frame(ip(sender(Family::ipv4), tcp())))), 0) << "tracked as before";
  // A datagram that comes meanwhile still gets through, in order or not.
  EXPECT_EQ(names_of(director.run(fragments(udp_sender(Family::ipv4, 1), whole, 400))), "forward forward");
  auto frames = fragments(udp_sender(Family::ipv4, 2), whole, 400);
  std::swap(frames[0], frames[1]);
  EXPECT_EQ(names_of(director.run(frames)), "forward forward");
  EXPECT_EQ(established, 0U);
}

TEST(Fragments, MoreThanTheTableHoldsLoseTheOldest) {
  DirectorForTests director;
  const Bytes whole = datagram(1000, 800);
  for (std::uint32_t n = 0; n < 3 * FragmentTable::datagrams_max; ++n) {
    Ip header = udp_sender(Family::ipv4, static_cast<std::uint16_t>(n));
    director.run(frame(fragment(header, whole, 0, 400)));
    if (n % 64 == 0) ++director.now_ms;
  }
  Ip newest = udp_sender(Family::ipv4, static_cast<std::uint16_t>(3 * FragmentTable::datagrams_max - 1));
  EXPECT_EQ(director.run(frame(fragment(newest, whole, 400, 800))).verdict, Verdict::forward);
  EXPECT_EQ(director.run(frame(fragment(udp_sender(Family::ipv4, 0), whole, 400, 800))).verdict,
            Verdict::held);
}

// RSS may bring a first fragment to one worker and its later ones, or the rest of its flow, to another.
class TwoWorkers : public ::testing::Test {
 protected:
  DirectorForTests here, there;
  std::array<const FlowState*, 1> peers{&there.flows};
  Pipeline asking{{here.ports, here.next_hops, here.counters, here.flows, Eal::get().mbufs(), peers}};
  Burst burst;
  Outputs outputs;

  // What `asking` makes of a frame: its verdict and, if it left, its backend.
  std::pair<Verdict, int> run(const Bytes& bytes) {
    burst.size = 1;
    burst.packets[0] = Eal::get().make(bytes);
    return settle();
  }
  std::pair<Verdict, int> settle() {
    const auto present = here.snapshot();
    asking.run(burst, *present, here.now_ms, outputs);
    const std::pair out{burst.verdict[0],
                        burst.verdict[0] == Verdict::forward ? static_cast<int>(burst.hops[0].slot(0)) : -1};
    Outbox& box = outputs.port[DirectorForTests::lan];
    rte_pktmbuf_free_bulk(box.frames.data(), box.size);
    asking.sent(box, box.size, Verdict::drop_tx_full);
    Pipeline::done(outputs);
    return out;
  }
};

TEST_F(TwoWorkers, TheFirstFragmentWasSeenElsewhere) {
  const auto frames = fragments(udp_sender(Family::ipv4), datagram(1000, 800), 400);
  EXPECT_EQ(there.run(frames[0]).verdict, Verdict::forward);
  here.rows.assign(251, Row{{3, 0, no_member}, 1});
  EXPECT_EQ(run(frames[1]), std::pair(Verdict::forward, 0));
}

TEST_F(TwoWorkers, TheFirstFragmentIsSeenElsewhereLater) {
  const auto frames = fragments(udp_sender(Family::ipv6), datagram(1000, 800), 400);
  EXPECT_EQ(run(frames[1]).first, Verdict::held);
  EXPECT_FALSE(asking.readmit(burst, here.now_ms));
  EXPECT_EQ(there.run(frames[0]).verdict, Verdict::forward);
  here.rows.assign(251, Row{{3, 0, no_member}, 1});
  ++here.now_ms;
  ASSERT_TRUE(asking.readmit(burst, here.now_ms));
  EXPECT_EQ(settle(), std::pair(Verdict::forward, 0));
  EXPECT_FALSE(asking.readmit(burst, here.now_ms));
  here.expect_balance();
}

TEST_F(TwoWorkers, TheFlowIsKnownElsewhere) {
  there.run(frame(ip(sender(Family::ipv4), tcp({.flags = tcp_syn}))));
  there.run(frame(ip(sender(Family::ipv4), tcp())));
  here.rows.assign(251, Row{{3, 0, no_member}, 1});
  const auto frames = fragments(sender(Family::ipv4), tcp({.payload = Bytes(400)}), 200);
  EXPECT_EQ(run(frames[0]), std::pair(Verdict::forward, 0));
  EXPECT_EQ(run(frames[1]), std::pair(Verdict::forward, 0));
}

}  // namespace
}  // namespace guideway::testing
