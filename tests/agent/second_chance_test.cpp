// The second chance by table: what goes on to the next hop, and what this host keeps.
#include "receive_fixture.h"

namespace guideway::agent::test {
namespace {

using SecondChanceTest = ReceiveTest;

const Bytes unknown_ack4 = inner4(tcp(40000, 80, ack)), unknown_ack6 = inner6(tcp(40000, 80, ack));

TEST_P(SecondChanceTest, SendsUnknownFlowsOn) {
  const Ip on4{self, peer, udp_}, on6{self6, peer6, udp_};
  const Ip in4{director, self, udp_}, in6{director6, self6, udp_};
  const auto summed = [](const Ip& outer, const Gue& header, const Bytes& inner) {
    return ethernet(ip(outer, udp_summed(outer, 0xc001, gue_port, gue(header, inner))));
  };
  Gue one{ipip, {peer}}, one_next = one, two{v6_in_ip, {"10.0.0.11", peer}, 1}, two_next = two;
  one_next.next = 1;
  two_next.next = 2;
  Gue six{ipip, {peer6}}, six_next = six;
  six_next.next = 1;
  const Bytes quote4 = hex("0304 0000 0000 0514") + ip({service, client, tcp_}, tcp(80, 40000, ack));
  const Bytes quote4_short = hex("0b00 0000 0000 0000") + Bytes(quote4.begin() + 8, quote4.begin() + 8 + 28);
  const Bytes quote6 = hex("0200 0000 0000 0514") + ip({service6, client6, tcp_}, tcp(80, 40000, ack));
  const auto extended = [](const Bytes& l4) {
    return inner6(hex("3c00 000000000000 0600 000000000000") + l4, 0);
  };
  const std::vector<FrameCase> cases = {
      {"an ACK", to4(one, unknown_ack4), "forward_tcp", to4(one_next, unknown_ack4, on4)},
      {"a RST", to4(one, inner4(tcp(1, 80, rst))), "forward_tcp",
       to4(one_next, inner4(tcp(1, 80, rst)), on4)},
      {"a FIN", to4(one, inner4(tcp(1, 80, fin | ack))), "forward_tcp",
       to4(one_next, inner4(tcp(1, 80, fin | ack)), on4)},
      {"IPv6 inside, second hop", to4(two, unknown_ack6), "forward_tcp", to4(two_next, unknown_ack6, on4)},
      {"over IPv6", to6(six, unknown_ack4), "forward_tcp", to6(six_next, unknown_ack4, on6)},
      {"outer IPv4 checksum kept right", summed(in4, one, unknown_ack4), "forward_tcp",
       summed(on4, one_next, unknown_ack4)},
      {"outer IPv6 checksum kept right", summed(in6, six, unknown_ack4), "forward_tcp",
       summed(on6, six_next, unknown_ack4)},
      {"outer IPv4 options", to4(one, unknown_ack4, {director, self, udp_, 0, 0, hex("94040000")}),
       "forward_tcp", to4(one_next, unknown_ack4, {self, peer, udp_, 0, 0, hex("94040000")})},
      {"behind IPv6 extension headers", to4(one, extended(tcp(1, 80, ack))), "drop_malformed"},
      {"too big, about a flow of another", to4(one, inner4(quote4, icmp)), "forward_icmp_error",
       to4(one_next, inner4(quote4, icmp), on4)},
      {"time exceeded with eight quoted bytes", to4(one, inner4(quote4_short, icmp)), "forward_icmp_error",
       to4(one_next, inner4(quote4_short, icmp), on4)},
  };
  check(cases);
  Gue in_v6{v6_in_ip, {peer}}, in_v6_next = in_v6;
  in_v6_next.next = 1;
  const std::vector<FrameCase> v6_cases = {
      {"behind IPv6 extension headers", to4(in_v6, extended(tcp(1, 80, ack))), "forward_tcp",
       to4(in_v6_next, extended(tcp(1, 80, ack)), on4)},
      {"packet too big", to4(in_v6, inner6(quote6, icmp6)), "forward_icmp_error",
       to4(in_v6_next, inner6(quote6, icmp6), on4)},
  };
  check(v6_cases);
}

// The chain of headers that a quote carries: who knows the flow decides, as without it.
TEST_P(SecondChanceTest, ErrorsFollowTheirFlowThroughAQuotesExtensionHeaders) {
  const Gue one{v6_in_ip, {peer}};
  Gue next = one;
  next.next = 1;
  const Connection connection = connect_to(service6, 8080, client6);
  const auto options = [](std::uint8_t next_header) { return Bytes{next_header, 0} + hex("010400000000"); };
  const Bytes first = hex("0600 0001 00000007"), atomic = hex("0600 0000 00000007"),
              later = hex("0600 0008 00000007");
  const auto chain = [&](std::uint8_t last) {
    Bytes out;
    for (int i = 0; i < 7; ++i) out = out + options(60);
    return out + options(last);
  };
  const auto error = [&](std::uint8_t type, const Bytes& headers, std::uint16_t port) {
    return inner6(hex("0200 0000 0000 0514") + ip({service6, client6, type}, headers + tcp(8080, port, ack)),
                  icmp6);
  };
  struct Quote {
    std::string description;
    std::uint8_t type;  // of its first header
    Bytes headers;
    bool followed = true;
  };
  const std::vector<Quote> quotes = {
      {"destination options", 60, options(6)},
      {"hop-by-hop, routing, destination options", 0, options(43) + options(60) + options(6)},
      {"eight headers", 60, chain(6)},
      {"nine headers are nobody's", 60, options(60) + chain(6), false},
      {"an atomic fragment", 44, atomic},
      {"a first fragment", 44, first},
      {"a later fragment has no ports", 44, later, false},
      {"options before UDP", 60, options(17), false},
  };
  for (const Quote& q : quotes) {
    const Bytes known = error(q.type, q.headers, connection.client_port);
    const Bytes alien = error(q.type, q.headers, static_cast<std::uint16_t>(connection.client_port ^ 1));
    if (!q.followed) {
      check({{q.description, to4(one, known), "deliver_not_tcp", ethernet(known)}});
      continue;
    }
    check({{q.description + ", about a connection of this host", to4(one, known), "deliver_icmp_error",
            ethernet(known)},
           {q.description + ", about another backend's", to4(one, alien), "forward_icmp_error",
            to4(next, alien, {self, peer, udp_})}});
  }
}

TEST_P(SecondChanceTest, DeliversWhatNoOtherBackendWants) {
  const Gue one{ipip, {peer}}, one6{v6_in_ip, {peer}};
  const Bytes quote_udp = hex("0303 0000 0000 0000") + ip({service, client, udp_}, udp(53, 40000, {}));
  const Bytes atomic = hex("0600 0000 00000001"), later = hex("0600 0009 00000001");
  const std::vector<FrameCase> cases = {
      {"UDP", to4(one, inner4(udp(40000, 53, hex("00")), udp_)), "deliver_not_tcp",
       ethernet(inner4(udp(40000, 53, hex("00")), udp_))},
      {"echo request", to4(one, inner4(hex("0800 f7ff 0000 0000"), icmp)), "deliver_not_tcp",
       ethernet(inner4(hex("0800 f7ff 0000 0000"), icmp))},
      {"error about UDP", to4(one, inner4(quote_udp, icmp)), "deliver_not_tcp",
       ethernet(inner4(quote_udp, icmp))},
      {"inner fragment", to4(one, ip({client, service, tcp_, 0, 0x2000}, tcp(1, 80, ack))),
       "deliver_fragment", ethernet(ip({client, service, tcp_, 0, 0x2000}, tcp(1, 80, ack)))},
      {"inner IPv6 fragment", to4(one6, inner6(later + tcp(1, 80, ack), 44)), "deliver_fragment",
       ethernet(inner6(later + tcp(1, 80, ack), 44))},
      {"SYN and ACK", to4(one, inner4(tcp(1, 80, syn | ack))), "deliver_syn",
       ethernet(inner4(tcp(1, 80, syn | ack)))},
      {"next hop is this host", to4({ipip, {self}}, unknown_ack4), "deliver_self", ethernet(unknown_ack4)},
      {"next hop is no peer", to4({ipip, {stranger}}, unknown_ack4), "deliver_not_peer",
       ethernet(unknown_ack4)},
      {"next hop is a director, but no peer", to4({ipip, {director}}, unknown_ack4), "deliver_not_peer",
       ethernet(unknown_ack4)},
      {"the last hop has been asked", to4({ipip, {peer}, 1}, unknown_ack4), "deliver_no_hop",
       ethernet(unknown_ack4)},
  };
  check(cases);
  Gue next = one6;
  next.next = 1;
  const std::vector<FrameCase> whole = {
      {"a fragment header on a whole packet is no fragment", to4(one6, inner6(atomic + tcp(1, 80, ack), 44)),
       "forward_tcp", to4(next, inner6(atomic + tcp(1, 80, ack), 44), {self, peer, udp_})}};
  check(whole);
}

TEST_P(SecondChanceTest, KnowsTheConnectionsOfThisHost) {
  for (const bool v6 : {false, true}) {
    const std::string to = v6 ? service6 : service, from = v6 ? client6 : client;
    const std::uint8_t inside = v6 ? v6_in_ip : ipip;
    const Connection connection = connect_to(to, 8080, from);
    const auto packet = [&](std::uint16_t source, std::uint8_t flags) {
      return ip({from, to, tcp_}, tcp(source, 8080, flags));
    };
    const Bytes quoted = ip({to, from, tcp_}, tcp(8080, connection.client_port, ack));
    const auto error = [&](const Bytes& quote) {
      return ip({from, to, v6 ? icmp6 : icmp},
                hex(v6 ? "0200 0000 0000 0514" : "0304 0000 0000 0514") + quote);
    };
    const Gue one{inside, {peer}};
    Gue next = one;
    next.next = 1;
    const Ip on{self, peer, udp_};
    const std::uint16_t other = static_cast<std::uint16_t>(connection.client_port ^ 1);
    const std::vector<FrameCase> cases = {
        {"an ACK of a connection", to4(one, packet(connection.client_port, ack)), "deliver_established",
         ethernet(packet(connection.client_port, ack))},
        {"a RST of a connection", to4(one, packet(connection.client_port, rst)), "deliver_established",
         ethernet(packet(connection.client_port, rst))},
        {"an error about a connection", to4(one, error(quoted)), "deliver_icmp_error",
         ethernet(error(quoted))},
        {"only the listener knows it", to4(one, packet(other, ack)), "forward_tcp",
         to4(next, packet(other, ack), on)},
        {"an error that only the listener knows",
         to4(one, error(ip({to, from, tcp_}, tcp(8080, other, ack)))), "forward_icmp_error",
         to4(next, error(ip({to, from, tcp_}, tcp(8080, other, ack))), on)},
    };
    check(cases);
  }
}

INSTANTIATE_TEST_SUITE_P(Objects, SecondChanceTest, testing::Values(true, false), object_name);

}  // namespace
}  // namespace guideway::agent::test
