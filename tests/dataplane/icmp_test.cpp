// ICMP: errors follow the flow they quote, echo requests are answered, packets too big are told of.
#include <gtest/gtest.h>

#include "net/icmp.h"
#include "tests/dataplane/director_for_tests.h"
#include "tests/dataplane/fragments_for_tests.h"

namespace guideway::testing {
namespace {

Bytes icmp_message(Family family, std::uint8_t type, std::uint8_t code, std::uint32_t rest,
                   const Bytes& payload, const Ip& header) {
  Bytes out = {type, code, 0, 0};
  append32(out, rest);
  append(out, payload);
  net::ChecksumSum sum;
  if (family == Family::ipv6) {
    Bytes pseudo = bytes_of(header.source);
    append(pseudo, bytes_of(header.destination));
    append32(pseudo, static_cast<std::uint32_t>(out.size()));
    append32(pseudo, 58);
    sum.add(pseudo);
  }
  net::store(out.data() + 2, sum.add(out).checksum());
  return out;
}

// From a router on the path to the service address.
Ip from_router(Family family) {
  Ip header = family == Family::ipv4 ? Ip{} : ipv6();
  header.source = address(family == Family::ipv4 ? "192.0.2.254" : "2001:db8:9::1");
  header.protocol = family == Family::ipv4 ? net::protocol_icmp : net::protocol_icmpv6;
  return header;
}

// The packet that the service sent to the client, as a quote.
Bytes quoted(Family family, std::uint8_t protocol, std::uint16_t client_port, std::uint16_t service_port,
             std::size_t l4_bytes = 8) {
  Ip header = family == Family::ipv4 ? Ip{} : ipv6();
  std::swap(header.source, header.destination);
  header.protocol = protocol;
  header.ttl = 0;  // it died on its way
  const L4 l4{.source_port = service_port, .destination_port = client_port, .payload = Bytes(400)};
  Bytes packet = ip(header, protocol == net::protocol_tcp ? tcp(l4) : udp(l4));
  packet.resize((family == Family::ipv4 ? 20 : 40) + l4_bytes);
  return packet;
}

Bytes error_about(Family family, std::uint8_t type, std::uint8_t code, const Bytes& quote) {
  const Ip header = from_router(family);
  return frame(ip(header, icmp_message(family, type, code, 1400, quote, header)));
}

int backend_of(const Outcome& outcome) {
  return outcome.verdict == Verdict::forward ? outcome.frame[14 + 19] - 11 : -1;
}

TEST(IcmpError, FollowsTheFlowItQuotes) {
  DirectorForTests director;
  for (std::size_t row = 0; row < 251; ++row)
    director.rows[row].hop = {static_cast<MemberIndex>(row % 4), no_member, no_member};
  for (const Family family : {Family::ipv4, Family::ipv6}) {
    const Ip client = family == Family::ipv4 ? Ip{} : ipv6();
    const std::uint8_t type = family == Family::ipv4 ? 3 : 2, code = family == Family::ipv4 ? 4 : 0;
    for (std::uint16_t port = 1000; port < 1256; ++port) {
      const Outcome flow = director.run(frame(ip(client, tcp({.source_port = port}))));
      const Bytes error = error_about(family, type, code, quoted(family, net::protocol_tcp, port, 80));
      const Outcome outcome = director.run(error);
      ASSERT_EQ(name(outcome.verdict), "forward");
      ASSERT_EQ(backend_of(outcome), backend_of(flow));
      ASSERT_EQ(Bytes(outcome.frame.begin() + 34, outcome.frame.begin() + 36),
                Bytes(flow.frame.begin() + 34, flow.frame.begin() + 36))
          << "another source port than its flow's";
      ASSERT_EQ(
          Bytes(outcome.frame.end() - static_cast<std::ptrdiff_t>(error.size() - 14), outcome.frame.end()),
          Bytes(error.begin() + 14, error.end()));
    }
  }
}

TEST(IcmpError, FollowsATrackedFlowAndChangesNothing) {
  DirectorForTests director;
  director.run(frame(ip({}, tcp({.flags = tcp_syn}))));
  director.rows.assign(251, Row{{3, 2, 1}, 1});
  const Bytes error = error_about(Family::ipv4, 3, 4, quoted(Family::ipv4, net::protocol_tcp, 40000, 80));
  EXPECT_EQ(backend_of(director.run(error)), 0);
  EXPECT_EQ(backend_of(director.run(error)), 0);
  // Still fresh: an error does not make a flow established.
  director.now_ms += director.pool.timeouts.fresh_ms + 100;
  EXPECT_EQ(backend_of(director.run(error)), 3);
}

// Nor an entry, not even where TCP that nobody knows is learned: an error is somebody else's word about a flow.
TEST(IcmpError, MakesNoEntry) {
  for (const Encapsulation encapsulation : {Encapsulation::gue, Encapsulation::ipip}) {
    DirectorForTests director;
    director.pool.encapsulation = encapsulation;
    const Bytes error = error_about(Family::ipv4, 3, 4, quoted(Family::ipv4, net::protocol_tcp, 40000, 80));
    EXPECT_EQ(name(director.run(error).verdict), "forward");
    EXPECT_EQ(director.flows.table.count(BackendId(0), director.now_ms, 0).all(), 0U);
    EXPECT_EQ(director.counters.verdicts.flows_created.get(), 0U);
  }
}

TEST(IcmpError, AsksTheOtherWorkersTables) {
  DirectorForTests director;
  director.run(frame(ip({}, tcp({.flags = tcp_syn}))));
  director.rows.assign(251, Row{{3, 2, 1}, 1});
  WorkerCounters counters;
  FlowState own(64, 1);
  const std::array<const FlowState*, 1> peers = {&director.flows};
  Pipeline other({director.ports, director.next_hops, counters, own, Eal::get().mbufs(), peers});
  const auto snapshot = director.snapshot();
  Burst burst;
  Outputs outputs;
  burst.size = 1;
  burst.packets[0] =
      Eal::get().make(error_about(Family::ipv4, 3, 4, quoted(Family::ipv4, net::protocol_tcp, 40000, 80)));
  other.run(burst, *snapshot, director.now_ms, outputs);
  EXPECT_EQ(burst.tracked[0], 0);
  rte_pktmbuf_free(outputs.port[1].frames[0]);
  other.sent(outputs.port[1], 1, Verdict::drop_tx_full);
}

TEST(IcmpError, Verdicts) {
  const Bytes tcp_quote = quoted(Family::ipv4, net::protocol_tcp, 40000, 80);
  const Bytes tcp6_quote = quoted(Family::ipv6, net::protocol_tcp, 40000, 80);
  const auto changed = [](Bytes bytes, std::size_t at, std::uint8_t value) {
    bytes[at] = value;
    return bytes;
  };
  Ip fragmented;
  std::swap(fragmented.source, fragmented.destination);
  fragmented.fragment = 0x2001;
  Ip chained = ipv6();
  std::swap(chained.source, chained.destination);
  chained.first_header = net::protocol_destination_options;
  chained.options = from_hex("0600 0104 0000 0000");
  Ip options;
  std::swap(options.source, options.destination);
  options.options = {1, 1, 1, 0};
  const Bytes from_service = tcp({.source_port = 80, .destination_port = 40000});
  struct Case {
    const char* description;
    Bytes frame;
    Verdict verdict;
  };
  const std::vector<Case> cases = {
      {"unreachable", error_about(Family::ipv4, 3, 1, tcp_quote), Verdict::forward},
      {"time exceeded", error_about(Family::ipv4, 11, 0, tcp_quote), Verdict::forward},
      {"parameter problem", error_about(Family::ipv4, 12, 0, tcp_quote), Verdict::forward},
      {"UDP", error_about(Family::ipv4, 3, 3, quoted(Family::ipv4, net::protocol_udp, 40000, 53)),
       Verdict::forward},
      {"ICMPv6 1", error_about(Family::ipv6, 1, 0, tcp6_quote), Verdict::forward},
      {"ICMPv6 3", error_about(Family::ipv6, 3, 0, tcp6_quote), Verdict::forward},
      {"ICMPv6 4", error_about(Family::ipv6, 4, 0, tcp6_quote), Verdict::forward},
      {"a quote with options", error_about(Family::ipv4, 3, 4, ip(options, from_service)), Verdict::forward},
      {"a quote with extension headers", error_about(Family::ipv6, 2, 0, ip(chained, from_service)),
       Verdict::forward},
      {"7 bytes of L4",
       error_about(Family::ipv4, 3, 4, quoted(Family::ipv4, net::protocol_tcp, 40000, 80, 7)),
       Verdict::drop_icmp_unknown_flow},
      {"no quote", error_about(Family::ipv4, 3, 4, {}), Verdict::drop_icmp_unknown_flow},
      {"a later fragment's quote", error_about(Family::ipv4, 3, 4, ip(fragmented, from_service)),
       Verdict::drop_icmp_unknown_flow},
      {"IHL 4 in the quote", error_about(Family::ipv4, 3, 4, changed(tcp_quote, 0, 0x44)),
       Verdict::drop_icmp_unknown_flow},
      {"IHL beyond the quote", error_about(Family::ipv4, 3, 4, changed(tcp_quote, 0, 0x4f)),
       Verdict::drop_icmp_unknown_flow},
      {"another version in the quote", error_about(Family::ipv4, 3, 4, tcp6_quote),
       Verdict::drop_icmp_unknown_flow},
      {"a quote from another address", error_about(Family::ipv4, 3, 4, changed(tcp_quote, 15, 11)),
       Verdict::drop_icmp_unknown_flow},
      {"a quote from no service's port",
       error_about(Family::ipv4, 3, 4, quoted(Family::ipv4, net::protocol_tcp, 40000, 81)),
       Verdict::drop_icmp_unknown_flow},
      {"a quote of another protocol", error_about(Family::ipv4, 3, 4, changed(tcp_quote, 9, 132)),
       Verdict::drop_icmp_unknown_flow},
      {"a redirect is no error about a flow", error_about(Family::ipv4, 5, 0, tcp_quote), Verdict::kernel},
      {"a neighbour solicitation", error_about(Family::ipv6, 135, 0, tcp6_quote), Verdict::kernel},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    for (const std::size_t segment : {2048, 60}) {
      DirectorForTests director;
      EXPECT_EQ(name(director.run(c.frame, {.segment = segment}).verdict), name(c.verdict));
    }
  }
}

Ip pinging(Family family) {
  Ip header = from_router(family);
  header.tos = 0xfd;
  header.id = 0xbeef;
  header.fragment = 0;
  header.ttl = 3;
  return header;
}

TEST(Echo, AnsweredForEveryId) {
  for (const Family family : {Family::ipv4, Family::ipv6}) {
    const bool ipv4 = family == Family::ipv4;
    DirectorForTests director;
    const Ip asked = pinging(family);
    Ip answered = asked;
    std::swap(answered.source, answered.destination);
    answered.tos = 0;
    answered.id = 0;
    answered.fragment = 0x4000;
    answered.ttl = 64;
    answered.flow_label = 0;
    for (std::uint32_t id = 0; id < 65536; id += 32) {
      std::vector<Bytes> frames, expected;
      for (std::uint32_t n = 0; n < 32; ++n) {
        const std::uint32_t rest = (id + n) << 16 | 7;
        frames.push_back(
            frame(ip(asked, icmp_message(family, ipv4 ? 8 : 128, 0, rest, {'p', 'i', 'n'}, asked)),
                  {.padding = 5}));
        expected.push_back(
            frame(ip(answered, icmp_message(family, ipv4 ? 0 : 129, 0, rest, {'p', 'i', 'n'}, answered)),
                  {router_mac, port_mac, {}, 0}));
      }
      const auto outcomes = director.run(frames);
      for (std::size_t n = 0; n < 32; ++n) {
        ASSERT_EQ(name(outcomes[n].verdict), "answer");
        ASSERT_EQ(outcomes[n].port, DirectorForTests::wan);
        ASSERT_EQ(outcomes[n].frame, expected[n]) << id + n;
      }
    }
  }
}

// The tags that the request came with are those of another link; the answer has the port's own.
TEST(Echo, TheAnswerHasThePortsTag) {
  for (const std::uint16_t vlan : {std::uint16_t{0}, std::uint16_t{42}}) {
    DirectorForTests director;
    director.ports.ports[DirectorForTests::wan].vlan = vlan;
    const Ip asked = pinging(Family::ipv4);
    const Bytes ping = ip(asked, icmp_message(Family::ipv4, 8, 0, 1, {'x'}, asked));
    Link link{.tags = {{0x88a8, 7}, {0x8100, 8}}};
    const Outcome outcome = director.run(frame(ping, link));
    ASSERT_EQ(name(outcome.verdict), "answer");
    const Bytes expected = vlan == 0 ? from_hex("0800 4500") : from_hex("8100 002a 0800 4500");
    EXPECT_EQ(Bytes(outcome.frame.begin() + 12,
                    outcome.frame.begin() + 12 + static_cast<std::ptrdiff_t>(expected.size())),
              expected);
  }
}

TEST(Echo, PolicyOfTheAddress) {
  const Ip asked = pinging(Family::ipv4);
  const Bytes ping = frame(ip(asked, icmp_message(Family::ipv4, 8, 0, 1, {}, asked)));
  for (const auto& [policy, verdict] :
       {std::pair{Ping::answer, Verdict::answer}, std::pair{Ping::forward, Verdict::forward},
        std::pair{Ping::kernel, Verdict::kernel}}) {
    DirectorForTests director;
    director.rules[0].ping = static_cast<std::uint8_t>(policy);
    EXPECT_EQ(name(director.run(ping).verdict), name(verdict));
    EXPECT_EQ(director.counters.service(ServiceId(0)).unmatched.get(), 0U);
  }
  DirectorForTests director;
  Ip elsewhere = asked;
  elsewhere.destination = address("203.0.113.11");
  EXPECT_EQ(director.run(frame(ip(elsewhere, icmp_message(Family::ipv4, 8, 0, 1, {}, elsewhere)))).verdict,
            Verdict::kernel);
  for (const char* nobody : {"0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255"}) {
    Ip header = asked;
    header.source = address(nobody);
    EXPECT_EQ(director.run(frame(ip(header, icmp_message(Family::ipv4, 8, 0, 1, {}, header)))).verdict,
              Verdict::drop_icmp_malformed);
  }
}

TEST(Echo, OptionsAndShapesOfMbufs) {
  DirectorForTests director;
  Ip asked = pinging(Family::ipv4);
  asked.options = {1, 1, 1, 0};
  Ip answered = asked;
  answered.options.clear();
  std::swap(answered.source, answered.destination);
  answered.tos = 0;
  answered.id = 0;
  answered.fragment = 0x4000;
  answered.ttl = 64;
  const Bytes payload(1000, 'x');
  const Bytes ping = frame(ip(asked, icmp_message(Family::ipv4, 8, 0, 1, payload, asked)));
  const Bytes expected = frame(ip(answered, icmp_message(Family::ipv4, 0, 0, 1, payload, answered)),
                               {router_mac, port_mac, {}, 0});
  for (const std::size_t segment : {1, 20, 60, 500, 2048})
    for (const unsigned headroom : {0U, 128U})
      EXPECT_EQ(
          director.run(ping, {.segment = segment, .headroom = static_cast<std::uint16_t>(headroom)}).frame,
          expected);
}

TEST(Echo, OfMoreThanAnMbufHolds) {
  DirectorForTests director;
  const Ip asked = pinging(Family::ipv4);
  const Bytes ping = frame(ip(asked, icmp_message(Family::ipv4, 8, 0, 1, Bytes(8000, 'x'), asked)));
  for (const std::size_t segment : {38, 40, 1000, 2048}) {
    const Outcome outcome = director.run(ping, {.segment = segment});
    ASSERT_EQ(name(outcome.verdict), "answer") << segment;
    EXPECT_EQ(outcome.frame.size(), ping.size());
  }
}

TEST(IcmpError, OfMoreThanAnMbufHolds) {
  DirectorForTests director;
  Bytes quote = quoted(Family::ipv4, net::protocol_tcp, 40000, 80, 400);
  append(quote, Bytes(7000));
  const Bytes error = error_about(Family::ipv4, 3, 4, quote);
  for (const std::size_t segment : {15, 40, 45, 60, 65, 1000, 2048})
    EXPECT_EQ(name(director.run(error, {.segment = segment}).verdict), "forward") << segment;
}

Bytes big(Family family, std::size_t size, std::uint16_t fragment = 0x4000) {
  Ip header = family == Family::ipv4 ? Ip{} : ipv6();
  header.fragment = fragment;
  header.tos = 0xff;
  const std::size_t headers = (family == Family::ipv4 ? 20 : 40) + 20;
  return ip(header, tcp({.payload = Bytes(size - headers, 'b')}));
}

// One hop: 36 bytes of outer headers over IPv4, 56 over IPv6.
TEST(TooBig, TellsTheSenderTheRightMtu) {
  struct Case {
    Family inner, outer;
    std::size_t room;
  };
  for (const Case& c : {Case{Family::ipv4, Family::ipv4, 1464}, Case{Family::ipv4, Family::ipv6, 1444},
                        Case{Family::ipv6, Family::ipv4, 1464}, Case{Family::ipv6, Family::ipv6, 1444}}) {
    const bool ipv4 = c.inner == Family::ipv4;
    DirectorForTests director(c.outer);
    director.rows.assign(251, Row{{1, no_member, no_member}, 1});
    director.ports.ports[DirectorForTests::lan].mtu = 1500;
    EXPECT_EQ(director.run(frame(big(c.inner, c.room))).verdict, Verdict::forward);

    const Bytes packet = big(c.inner, c.room + 1);
    Ip told = ipv4 ? Ip{} : ipv6();
    std::swap(told.source, told.destination);
    told.protocol = ipv4 ? net::protocol_icmp : net::protocol_icmpv6;
    told.id = 0;
    told.ttl = 64;
    told.flow_label = 0;
    const Bytes quote(packet.begin(), packet.begin() + (ipv4 ? 548 : 1232));
    const Bytes expected = frame(ip(told, icmp_message(c.inner, ipv4 ? 3 : 2, ipv4 ? 4 : 0,
                                                       static_cast<std::uint32_t>(c.room), quote, told)),
                                 {router_mac, port_mac, {}, 0});
    for (const std::size_t segment : {100, 700, 2048}) {
      const Outcome outcome = director.run(frame(packet), {.segment = segment});
      ASSERT_EQ(name(outcome.verdict), "answer");
      EXPECT_EQ(outcome.port, DirectorForTests::wan);
      EXPECT_EQ(outcome.frame, expected);
    }
  }
}

TEST(TooBig, NotWhereItMayNotBeSaid) {
  DirectorForTests director;
  director.ports.ports[DirectorForTests::lan].mtu = 600;
  director.pool.too_big = TooBig::drop;
  EXPECT_EQ(director.run(frame(big(Family::ipv4, 1000, 0))).verdict, Verdict::drop_too_big) << "no DF";
  Bytes quote = quoted(Family::ipv4, net::protocol_tcp, 40000, 80, 400);
  append(quote, Bytes(400));
  EXPECT_EQ(director.run(error_about(Family::ipv4, 3, 4, quote)).verdict, Verdict::drop_too_big)
      << "an error";
  Ip nobody;
  nobody.source = address("224.0.0.5");
  EXPECT_EQ(director.run(frame(ip(nobody, tcp({.payload = Bytes(900)})))).verdict, Verdict::drop_too_big);
}

// The sender was told, if at all, by the first fragment; what a later one lacks is the ports that say whose it is.
TEST(TooBig, NeverAboutALaterFragment) {
  for (const Family family : {Family::ipv4, Family::ipv6}) {
    DirectorForTests director;
    director.ports.ports[DirectorForTests::lan].mtu = 1400;
    director.pool.too_big = TooBig::drop;
    Ip header = family == Family::ipv4 ? Ip{} : ipv6();
    header.id = 77;
    const Bytes segment = tcp({.payload = Bytes(2000)});
    Bytes first = fragment(header, segment, 0, 400), later = fragment(header, segment, 400, segment.size());
    if (family == Family::ipv4) {
      for (Bytes* packet : {&first, &later}) {
        (*packet)[6] |= 0x40;  // DF
        fix_ipv4_checksum(*packet);
      }
    }
    EXPECT_EQ(name(director.run(frame(first)).verdict), "forward");
    EXPECT_EQ(name(director.run(frame(later)).verdict), "too_big");
    EXPECT_EQ(director.count(Verdict::answer), 0U);
  }
}

// Below 1,280 no IPv6 host goes, so saying so would help nobody; IPv4 has no such floor.
TEST(TooBig, NeverLessThanIpv6sLeastMtu) {
  struct Case {
    Family inner, outer;
    std::uint16_t mtu;
    Verdict verdict;
  };
  // One hop: 36 bytes of outer headers over IPv4, 56 over IPv6.
  for (const Case& c : {Case{Family::ipv6, Family::ipv4, 1280 + 36, Verdict::answer},
                        Case{Family::ipv6, Family::ipv4, 1279 + 36, Verdict::drop_too_big},
                        Case{Family::ipv6, Family::ipv6, 1280 + 56, Verdict::answer},
                        Case{Family::ipv6, Family::ipv6, 1279 + 56, Verdict::drop_too_big},
                        Case{Family::ipv4, Family::ipv6, 1279 + 56, Verdict::answer},
                        Case{Family::ipv4, Family::ipv4, 576, Verdict::answer}}) {
    DirectorForTests director(c.outer);
    director.rows.assign(251, Row{{1, no_member, no_member}, 1});
    director.ports.ports[DirectorForTests::lan].mtu = c.mtu;
    EXPECT_EQ(name(director.run(frame(big(c.inner, 1500))).verdict), name(c.verdict)) << c.mtu;
  }
}

TEST(TooBig, IsRateLimited) {
  DirectorForTests director;
  director.ports.ports[DirectorForTests::lan].mtu = 600;
  const std::vector<Bytes> flood(1000, frame(big(Family::ipv4, 1000)));
  director.run(flood);
  EXPECT_EQ(director.count(Verdict::answer), 50U);
  EXPECT_EQ(director.count(Verdict::drop_too_big), 950U);
  director.now_ms += 10;
  director.run(flood);
  EXPECT_EQ(director.count(Verdict::answer), 60U);
}

}  // namespace
}  // namespace guideway::testing
