// The XDP program by table: a frame in, a verdict, a frame out, a counter. Both objects run every case.
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernel.h"
#include "net/gue.h"

namespace guideway::agent::test {
namespace {

const std::string director = "10.0.0.2", self = "10.0.0.11", peer = "10.0.0.12", stranger = "10.9.9.9";
const std::string director6 = "fd00::2", self6 = "fd00::11", peer6 = "fd00::12", stranger6 = "fd00:9::9";
const std::string client = "198.51.100.7", service = "203.0.113.10";
const std::string client6 = "2001:db8:7::7", service6 = "2001:db8:100::10";
constexpr std::uint16_t port = 19523;
constexpr std::uint8_t icmp = 1, ipip = 4, tcp_ = 6, udp_ = 17, v6_in_ip = 41, gre = 47, icmp6 = 58;

Prefix prefix(const std::string& text) { return parse_prefix(text).value(); }

Lists lists() {
  Lists out;
  out.directors = {prefix(director), prefix(director6), prefix("10.8.0.0/16")};
  out.peers = {prefix("10.0.0.12"), prefix("fd00::/64")};
  out.services = {prefix("203.0.113.0/28"), prefix(service6)};
  for (const std::string& text : {self, self6}) out.local.push_back(*IpAddress::parse(text));
  return out;
}

class ProgramTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (const std::string refusal = kernel_refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
    const bool portable = GetParam();
    auto loaded = Program::load({.udp_port = port, .force_portable = portable});
    ASSERT_TRUE(loaded) << loaded.error().text();
    if (!portable && !loaded->kernel_types()) GTEST_SKIP() << "this kernel carries no BTF of its own";
    program_ = std::move(*loaded);
    maps_.emplace(program_->maps().value());
    ASSERT_TRUE(maps_->set_lists(lists()));
  }

  Outcome run(const Bytes& frame) { return run_xdp(program_->receive(), frame); }

  // Names of the counters that a run of `frame` raised, "of_" ones left out.
  std::string counted(const Bytes& frame, Outcome* outcome) {
    const gw_counters before = maps_->counters();
    *outcome = run(frame);
    const gw_counters after = maps_->counters();
    std::string out;
    for (const Counter& counter : counter_table()) {
      if (std::string(counter.name).starts_with("of_")) continue;
      for (auto i = before.*counter.value; i < after.*counter.value; ++i)
        out += std::string(out.empty() ? "" : " ") + counter.name;
    }
    return out;
  }

  std::optional<Program> program_;
  std::optional<Maps> maps_;
};

struct Case {
  std::string description;
  Bytes in;
  std::string counter;  // of the verdict; "" for frames that are no business of ours
  Bytes out;            // empty: as it came in
};

std::uint32_t action_of(const std::string& counter) {
  return counter.starts_with("drop_") ? XDP_DROP : XDP_PASS;
}

Bytes inner4(const Bytes& l4, std::uint8_t protocol = tcp_, std::uint8_t tos = 0) {
  return ip({client, service, protocol, tos}, l4);
}
Bytes inner6(const Bytes& l4, std::uint8_t protocol = tcp_, std::uint8_t tos = 0) {
  return ip({client6, service6, protocol, tos}, l4);
}
Bytes to4(const Gue& header, const Bytes& inner, const Ip& outer = {director, self, udp_}) {
  return ethernet(ip(outer, udp(0xc001, port, gue(header, inner))));
}
Bytes to6(Gue header, const Bytes& inner, const Ip& outer = {director6, self6, udp_}) {
  header.v6_hops = true;
  return ethernet(ip(outer, udp(0xc001, port, gue(header, inner))));
}

const Bytes syn4 = inner4(tcp(40000, 80, syn)), syn6 = inner6(tcp(40000, 80, syn));
const Bytes ack4 = inner4(tcp(40000, 80, ack)), ack6 = inner6(tcp(40000, 80, ack));

void check(const std::vector<Case>& cases,
           const std::function<std::string(const Bytes&, Outcome*)>& counted) {
  for (const Case& c : cases) {
    Outcome outcome;
    EXPECT_EQ(counted(c.in, &outcome), c.counter) << c.description;
    EXPECT_EQ(outcome.action, action_of(c.counter)) << c.description;
    if (outcome.action == XDP_PASS) {
      EXPECT_EQ(outcome.frame, c.out.empty() ? c.in : c.out) << c.description;
    }
    const bool sent_on = c.counter.starts_with("forward_");
    if (outcome.metadata) {
      EXPECT_EQ(outcome.metadata->size(), sent_on ? 4u : 0u) << c.description;
    }
  }
}

#define CHECK_CASES(cases) check(cases, [this](const Bytes& in, Outcome* out) { return counted(in, out); })

TEST_P(ProgramTest, TakesEveryEncapsulationOff) {
  const Bytes vlan = hex("8100 0064"), qinq = hex("88a8 0064 8100 0065");
  const auto tagged = [](const Bytes& frame, const Bytes& tags) {
    Bytes out = frame;
    out.insert(out.begin() + 12, tags.begin(), tags.end());
    return out;
  };
  const Bytes options = hex("94040000");
  const std::vector<Case> cases = {
      {"GUE over IPv4, IPv4 inside, no hop", to4({ipip}, syn4), "deliver_no_hop", ethernet(syn4)},
      {"GUE over IPv4, IPv6 inside, no hop", to4({v6_in_ip}, syn6), "deliver_no_hop", ethernet(syn6)},
      {"GUE over IPv6, IPv4 inside, no hop", to6({ipip}, syn4), "deliver_no_hop", ethernet(syn4)},
      {"GUE over IPv6, IPv6 inside, no hop", to6({v6_in_ip}, syn6), "deliver_no_hop", ethernet(syn6)},
      {"GUE over IPv4 with one hop, a SYN", to4({ipip, {peer}}, syn4), "deliver_syn", ethernet(syn4)},
      {"GUE over IPv4 with two hops, a SYN", to4({v6_in_ip, {peer, "10.0.0.13"}}, syn6), "deliver_syn",
       ethernet(syn6)},
      {"GUE over IPv6 with one hop, a SYN", to6({v6_in_ip, {peer6}}, syn6), "deliver_syn", ethernet(syn6)},
      {"GUE over IPv6 with two hops, a SYN", to6({ipip, {peer6, "fd00::13"}}, syn4), "deliver_syn",
       ethernet(syn4)},
      {"GUE without the private field",
       ethernet(ip({director, self, udp_}, udp(1, port, hex("0004 0000") + ack4))), "deliver_no_hop",
       ethernet(ack4)},
      {"30 hops", to4({ipip, std::vector<std::string>(30, peer)}, syn4), "deliver_syn", ethernet(syn4)},
      {"seven IPv6 hops", to6({ipip, std::vector<std::string>(7, peer6)}, syn4), "deliver_syn",
       ethernet(syn4)},
      {"4in4", ethernet(ip({director, self, ipip}, ack4)), "deliver_no_hop", ethernet(ack4)},
      {"6in4", ethernet(ip({director, self, v6_in_ip}, ack6)), "deliver_no_hop", ethernet(ack6)},
      {"4in6", ethernet(ip({director6, self6, ipip}, ack4)), "deliver_no_hop", ethernet(ack4)},
      {"6in6", ethernet(ip({director6, self6, v6_in_ip}, ack6)), "deliver_no_hop", ethernet(ack6)},
      {"GRE, IPv4 in IPv4", ethernet(ip({director, self, gre}, hex("0000 0800") + ack4)), "deliver_no_hop",
       ethernet(ack4)},
      {"GRE, IPv6 in IPv4", ethernet(ip({director, self, gre}, hex("0000 86dd") + ack6)), "deliver_no_hop",
       ethernet(ack6)},
      {"GRE over IPv6", ethernet(ip({director6, self6, gre}, hex("0000 0800") + ack4)), "deliver_no_hop",
       ethernet(ack4)},
      {"one VLAN tag stays", tagged(to4({v6_in_ip, {peer}}, syn6), vlan), "deliver_syn",
       ethernet(syn6, vlan)},
      {"two VLAN tags stay", tagged(to6({ipip, {peer6}}, syn4), qinq), "deliver_syn", ethernet(syn4, qinq)},
      {"two VLAN tags, shorter than what is taken off",
       tagged(ethernet(ip({director, self, ipip}, ack4)), qinq), "deliver_no_hop", ethernet(ack4, qinq)},
      {"outer IPv4 options", to4({ipip, {peer}}, syn4, {director, self, udp_, 0, 0, options}), "deliver_syn",
       ethernet(syn4)},
      {"Ethernet padding goes along", to4({ipip, {peer}}, syn4) + Bytes(9), "deliver_syn",
       ethernet(syn4) + Bytes(9)},
      {"from a peer", to4({ipip, {peer}, 1}, ack4, {peer, self, udp_}), "deliver_no_hop", ethernet(ack4)},
      {"from a director's prefix", to4({ipip}, ack4, {"10.8.200.1", self, udp_}), "deliver_no_hop",
       ethernet(ack4)},
      {"next hop index past the end", to4({ipip, {peer}, 9}, ack4), "deliver_no_hop", ethernet(ack4)},
  };
  CHECK_CASES(cases);
}

TEST_P(ProgramTest, UnderstandsTheFrameOfGlbDirector) {
  const std::string literal = "eed34c43003c0000 0204000000000001 02030405";
  // UDP length 60: 8 UDP, 12 GUE, 40 of IPv4 and TCP.
  ASSERT_EQ(syn4.size(), 40u);
  const Bytes v4 = ethernet(ip({director, self, udp_}, hex(literal) + syn4));
  std::string with_v6 = literal;
  with_v6.replace(with_v6.find("0204"), 4, "0229");
  const Bytes v6 = ethernet(ip({director, self, udp_}, hex(with_v6) + syn6));
  const std::vector<Case> cases = {{"IPv4 inside", v4, "deliver_syn", ethernet(syn4)},
                                   {"IPv6 inside", v6, "deliver_syn", ethernet(syn6)}};
  CHECK_CASES(cases);
}

TEST_P(ProgramTest, UnderstandsWhatTheDirectorWrites) {
  for (const bool v6 : {false, true}) {
    const Bytes from = address(v6 ? director6 : director), to = address(v6 ? self6 : self);
    const Bytes hop = address(v6 ? peer6 : peer);
    net::GueOuter outer;
    outer.family = v6 ? Family::ipv6 : Family::ipv4;
    outer.source = from.data();
    outer.destination = to.data();
    outer.further = {hop.data(), hop.data()};
    outer.further_count = 2;
    outer.flow_hash = 0x123456789abcdef0;
    outer.inner_length = syn4.size();
    Bytes header(net::gue_outer_size(outer.family, 2));
    net::write_gue_outer(header.data(), outer);
    const std::vector<Case> cases = {
        {v6 ? "IPv6" : "IPv4", ethernet(header + syn4), "deliver_syn", ethernet(syn4)}};
    CHECK_CASES(cases);
  }
}

TEST_P(ProgramTest, LeavesAloneWhatIsNotOurs) {
  const std::vector<Case> cases = {
      {"plain TCP", ethernet(syn4), ""},
      {"plain IPv6", ethernet(syn6), ""},
      {"ARP", hex("ffffffffffff 020000000002 0806") + Bytes(46), ""},
      {"three VLAN tags", hex("020000000011 020000000002 8100 0001 8100 0002 8100 0003 0800") + syn4, ""},
      {"another UDP port", ethernet(ip({director, self, udp_}, udp(1, 53, gue({ipip}, syn4)))), ""},
      {"outer destination of another host", to4({ipip}, syn4, {director, peer, udp_}), "pass_not_local"},
      {"outer IPv6 destination of another host", to6({ipip}, syn4, {director6, peer6, udp_}),
       "pass_not_local"},
      {"outer source unknown", to4({ipip}, syn4, {stranger, self, udp_}), "pass_foreign_source"},
      {"outer IPv6 source unknown", to6({ipip}, syn4, {stranger6, self6, udp_}), "pass_foreign_source"},
      {"IPIP of a stranger", ethernet(ip({stranger, self, ipip}, syn4)), "pass_foreign_source"},
      {"inner destination no service", to4({ipip}, ip({client, "203.0.113.77", tcp_}, tcp(1, 80, syn))),
       "pass_not_service"},
      {"inner IPv6 destination no service",
       to4({v6_in_ip}, ip({client6, "2001:db8:100::11", tcp_}, tcp(1, 80, syn))), "pass_not_service"},
      {"the host's own address inside", to4({ipip}, ip({client, self, tcp_}, tcp(1, 80, syn))),
       "pass_not_service"},
      {"first outer fragment", to4({ipip}, syn4, {director, self, udp_, 0, 0x2000}), "pass_outer_fragment"},
      {"later outer fragment", to4({ipip}, syn4, {director, self, udp_, 0, 0x0010}), "pass_outer_fragment"},
      {"a stranger's fragment", to4({ipip}, syn4, {stranger, self, udp_, 0, 0x2000}), ""},
      {"GRE with a key", ethernet(ip({director, self, gre}, hex("2000 0800 00000001") + syn4)),
       "pass_other_tunnel"},
      {"GRE with Ethernet inside", ethernet(ip({director, self, gre}, hex("0000 6558") + syn4)),
       "pass_other_tunnel"},
      {"outer IHL of four",
       [] {
         Bytes frame = to4({ipip}, syn4);
         frame[14] = 0x44;
         return frame;
       }(),
       ""},
  };
  CHECK_CASES(cases);
}

TEST_P(ProgramTest, DropsWhatContradictsItself) {
  const auto bad_inner = [](std::size_t offset, std::uint8_t value) {
    Bytes inner = syn4;
    inner[offset] = value;
    return to4({ipip}, inner);
  };
  const std::vector<Case> cases = {
      {"version 1", to4({.protocol = ipip, .version_bits = 0x40}, syn4), "drop_malformed"},
      {"control message", to4({.protocol = ipip, .version_bits = 0x20}, syn4), "drop_malformed"},
      {"flags", to4({.protocol = ipip, .flags = 0x8000}, syn4), "drop_malformed"},
      {"private type 1 over IPv4", to4({.protocol = ipip, .hops = {peer}, .type = 1}, syn4),
       "drop_malformed"},
      {"private type 0 over IPv6", to6({.protocol = ipip, .hops = {peer6}, .type = 0}, syn4),
       "drop_malformed"},
      {"private type 2", to4({.protocol = ipip, .type = 2}, syn4), "drop_malformed"},
      {"more hops than the length has", to4({.protocol = ipip, .hops = {peer}, .count = 2}, syn4),
       "drop_malformed"},
      {"fewer hops than the length has", to4({.protocol = ipip, .hops = {peer}, .count = 0}, syn4),
       "drop_malformed"},
      {"length one too long", to4({.protocol = ipip, .hops = {peer}, .length = 3}, syn4), "drop_malformed"},
      {"length past the frame", to4({.protocol = ipip, .length = 31, .count = 30}, syn4), "drop_malformed"},
      {"an inner protocol that is no IP", to4({.protocol = tcp_}, syn4), "drop_malformed"},
      {"IPv6 announced, IPv4 inside", to4({v6_in_ip}, syn4 + Bytes(20)), "drop_malformed"},
      {"IPv4 announced, IPv6 inside", to4({ipip}, syn6), "drop_malformed"},
      {"inner IHL of four", bad_inner(0, 0x44), "drop_malformed"},
      {"inner length longer than the outer one", bad_inner(2, 1), "drop_malformed"},
      {"inner length shorter than its header", bad_inner(3, 19), "drop_malformed"},
      {"congestion marked outside, inside not able to", to4({ipip}, syn4, {director, self, udp_, 3}),
       "drop_ecn"},
  };
  CHECK_CASES(cases);
}

TEST_P(ProgramTest, CarriesCongestionMarksInside) {
  struct EcnCase {
    std::uint8_t outer, inner, result;
  };
  // RFC 6040, figure 4, without the combination that is dropped; 0xb8 is some DSCP, which stays.
  const std::vector<EcnCase> table = {{0, 0, 0}, {0, 1, 1}, {0, 2, 2}, {0, 3, 3}, {1, 0, 0},
                                      {1, 1, 1}, {1, 2, 1}, {1, 3, 3}, {2, 0, 0}, {2, 1, 1},
                                      {2, 2, 2}, {2, 3, 3}, {3, 1, 3}, {3, 2, 3}, {3, 3, 3}};
  for (const EcnCase& c : table) {
    const std::string what = "outer " + std::to_string(c.outer) + ", inner " + std::to_string(c.inner);
    const auto tos = [](std::uint8_t ecn) { return static_cast<std::uint8_t>(0xb8 | ecn); };
    const Bytes l4 = tcp(1, 80, syn);
    const std::vector<Case> cases = {
        {what, to4({ipip}, inner4(l4, tcp_, tos(c.inner)), {director, self, udp_, c.outer}), "deliver_no_hop",
         ethernet(inner4(l4, tcp_, tos(c.result)))},
        {what + ", IPv6", to6({v6_in_ip}, inner6(l4, tcp_, tos(c.inner)), {director6, self6, udp_, c.outer}),
         "deliver_no_hop", ethernet(inner6(l4, tcp_, tos(c.result)))},
    };
    CHECK_CASES(cases);
  }
}

// Every length that a frame can be cut to: the program reads nothing behind the end (the verifier's promise), and
// what it decides is never a half-opened frame.
TEST_P(ProgramTest, TruncationAtEveryOffset) {
  const Bytes quote = ip({service, client, tcp_}, tcp(80, 40000, ack));
  const std::vector<std::pair<std::string, Bytes>> frames = {
      {"GUE over IPv4", to4({ipip, {peer, peer}}, ack4)},
      {"GUE over IPv6", to6({v6_in_ip, {peer6, peer6}}, ack6)},
      {"GRE", ethernet(ip({director, self, gre}, hex("0000 86dd") + ack6))},
      {"6in4", ethernet(ip({director, self, v6_in_ip}, ack6))},
      {"ICMP error", to4({ipip, {peer}}, inner4(hex("0304 0000 0000 0514") + quote, icmp))},
      {"IPv6 extension headers",
       to4({v6_in_ip, {peer}}, inner6(hex("3c00 000000000000 0600 000000000000") + tcp(1, 80, ack), 0))},
  };
  for (const auto& [name, whole] : frames) {
    for (std::size_t length = 14; length < whole.size(); ++length) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      Outcome outcome;
      const std::string counter = counted(cut, &outcome);
      const std::string what = name + " cut to " + std::to_string(length) + ": " + counter;
      if (counter.empty() || counter.starts_with("pass_")) {
        EXPECT_EQ(outcome.action, static_cast<std::uint32_t>(XDP_PASS)) << what;
        EXPECT_EQ(outcome.frame, cut) << what;
      } else if (counter.starts_with("drop_")) {
        EXPECT_EQ(outcome.action, static_cast<std::uint32_t>(XDP_DROP)) << what;
      } else {
        // A cut behind the headers is the stack's to find; those it needs are whole.
        EXPECT_EQ(outcome.action, static_cast<std::uint32_t>(XDP_PASS)) << what;
        EXPECT_GE(outcome.frame.size(), 14u + 20u) << what;
      }
    }
  }
}

TEST_P(ProgramTest, SendsUnknownFlowsOn) {
  const Ip on4{self, peer, udp_}, on6{self6, peer6, udp_};
  const Ip in4{director, self, udp_}, in6{director6, self6, udp_};
  const auto summed = [](const Ip& outer, const Gue& header, const Bytes& inner) {
    return ethernet(ip(outer, udp_summed(outer, 0xc001, port, gue(header, inner))));
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
  const std::vector<Case> cases = {
      {"an ACK", to4(one, ack4), "forward_tcp", to4(one_next, ack4, on4)},
      {"a RST", to4(one, inner4(tcp(1, 80, rst))), "forward_tcp",
       to4(one_next, inner4(tcp(1, 80, rst)), on4)},
      {"a FIN", to4(one, inner4(tcp(1, 80, fin | ack))), "forward_tcp",
       to4(one_next, inner4(tcp(1, 80, fin | ack)), on4)},
      {"IPv6 inside, second hop", to4(two, ack6), "forward_tcp", to4(two_next, ack6, on4)},
      {"over IPv6", to6(six, ack4), "forward_tcp", to6(six_next, ack4, on6)},
      {"outer IPv4 checksum kept right", summed(in4, one, ack4), "forward_tcp", summed(on4, one_next, ack4)},
      {"outer IPv6 checksum kept right", summed(in6, six, ack4), "forward_tcp", summed(on6, six_next, ack4)},
      {"outer IPv4 options", to4(one, ack4, {director, self, udp_, 0, 0, hex("94040000")}), "forward_tcp",
       to4(one_next, ack4, {self, peer, udp_, 0, 0, hex("94040000")})},
      {"behind IPv6 extension headers", to4(one, extended(tcp(1, 80, ack))), "drop_malformed"},
      {"too big, about a flow of another", to4(one, inner4(quote4, icmp)), "forward_icmp_error",
       to4(one_next, inner4(quote4, icmp), on4)},
      {"time exceeded with eight quoted bytes", to4(one, inner4(quote4_short, icmp)), "forward_icmp_error",
       to4(one_next, inner4(quote4_short, icmp), on4)},
  };
  CHECK_CASES(cases);
  Gue in_v6{v6_in_ip, {peer}}, in_v6_next = in_v6;
  in_v6_next.next = 1;
  const std::vector<Case> v6_cases = {
      {"behind IPv6 extension headers", to4(in_v6, extended(tcp(1, 80, ack))), "forward_tcp",
       to4(in_v6_next, extended(tcp(1, 80, ack)), on4)},
      {"packet too big", to4(in_v6, inner6(quote6, icmp6)), "forward_icmp_error",
       to4(in_v6_next, inner6(quote6, icmp6), on4)},
  };
  CHECK_CASES(v6_cases);
}

TEST_P(ProgramTest, DeliversWhatNoOtherBackendWants) {
  const Gue one{ipip, {peer}}, one6{v6_in_ip, {peer}};
  const Bytes quote_udp = hex("0303 0000 0000 0000") + ip({service, client, udp_}, udp(53, 40000, {}));
  const Bytes atomic = hex("0600 0000 00000001"), later = hex("0600 0009 00000001");
  const std::vector<Case> cases = {
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
      {"next hop is this host", to4({ipip, {self}}, ack4), "deliver_self", ethernet(ack4)},
      {"next hop is no peer", to4({ipip, {stranger}}, ack4), "deliver_not_peer", ethernet(ack4)},
      {"next hop is a director, but no peer", to4({ipip, {director}}, ack4), "deliver_not_peer",
       ethernet(ack4)},
      {"the last hop has been asked", to4({ipip, {peer}, 1}, ack4), "deliver_no_hop", ethernet(ack4)},
  };
  CHECK_CASES(cases);
  Gue next = one6;
  next.next = 1;
  const std::vector<Case> whole = {{"a fragment header on a whole packet is no fragment",
                                    to4(one6, inner6(atomic + tcp(1, 80, ack), 44)), "forward_tcp",
                                    to4(next, inner6(atomic + tcp(1, 80, ack), 44), {self, peer, udp_})}};
  CHECK_CASES(whole);
}

TEST_P(ProgramTest, KnowsTheConnectionsOfThisHost) {
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
    const std::vector<Case> cases = {
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
    CHECK_CASES(cases);
  }
}

TEST_P(ProgramTest, KnowsConnectionsThatWereJustClosed) {
  Connection connection = connect_to(service, 8081, client);
  // Who closes first keeps the TIME_WAIT socket: the server.
  connection.server = Fd();
  char byte = 0;
  ASSERT_EQ(::read(connection.client.get(), &byte, 1), 0);
  connection.client = Fd();
  const Bytes packet = inner4(tcp(connection.client_port, 8081, fin | ack));
  const std::vector<Case> cases = {
      {"a FIN sent again", to4({ipip, {peer}}, packet), "deliver_time_wait", ethernet(packet)}};
  CHECK_CASES(cases);
}

TEST_P(ProgramTest, ListsActAtOnce) {
  const Bytes frame = to4({ipip, {peer}}, ack4);
  Outcome outcome;
  Lists changed = lists();
  changed.peers.clear();
  ASSERT_TRUE(maps_->set_lists(changed));
  EXPECT_EQ(counted(frame, &outcome), "deliver_not_peer");
  changed.peers = {prefix("10.0.0.0/24")};
  ASSERT_TRUE(maps_->set_lists(changed));
  EXPECT_EQ(counted(frame, &outcome), "forward_tcp");
  changed.directors = {prefix("10.8.0.0/16")};
  ASSERT_TRUE(maps_->set_lists(changed));
  EXPECT_EQ(counted(frame, &outcome), "forward_tcp") << "10.0.0.2 is a peer now";
  changed.peers = {prefix("10.0.0.12")};
  ASSERT_TRUE(maps_->set_lists(changed));
  EXPECT_EQ(counted(frame, &outcome), "pass_foreign_source");
  EXPECT_EQ(maps_->lists(), changed);
}

// A director's address inside a peers' prefix is both: the longest match must not hide what the shorter one allows.
TEST_P(ProgramTest, CoveringPrefixesAddUp) {
  Lists changed = lists();
  changed.directors = {prefix(director), prefix(peer)};
  changed.peers = {prefix("10.0.0.0/24")};
  ASSERT_TRUE(maps_->set_lists(changed));
  Outcome outcome;
  EXPECT_EQ(counted(to4({ipip, {peer}}, ack4), &outcome), "forward_tcp");
  EXPECT_EQ(maps_->lists(), changed);
}

std::string object_name(const testing::TestParamInfo<bool>& portable) {
  return portable.param ? "portable" : "kernel_types";
}

INSTANTIATE_TEST_SUITE_P(Objects, ProgramTest, testing::Values(true, false), object_name);

}  // namespace
}  // namespace guideway::agent::test
