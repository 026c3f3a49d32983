// The XDP program by table: what is taken off, left alone and dropped.
#include <linux/bpf.h>

#include "net/extension_headers.h"
#include "net/gue.h"
#include "net/packet.h"
#include "receive_fixture.h"

namespace guideway::agent::test {
namespace {

using ProgramTest = ReceiveTest;

const Bytes syn4 = inner4(tcp(40000, 80, syn)), syn6 = inner6(tcp(40000, 80, syn));
const Bytes ack4 = inner4(tcp(40000, 80, ack)), ack6 = inner6(tcp(40000, 80, ack));

TEST_P(ProgramTest, TakesEveryEncapsulationOff) {
  const Bytes vlan = hex("8100 0064"), qinq = hex("88a8 0064 8100 0065");
  const auto tagged = [](const Bytes& frame, const Bytes& tags) {
    Bytes out = frame;
    out.insert(out.begin() + 12, tags.begin(), tags.end());
    return out;
  };
  const Bytes options = hex("94040000");
  const std::vector<FrameCase> cases = {
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
       ethernet(ip({director, self, udp_}, udp(1, gue_port, hex("0004 0000") + ack4))), "deliver_no_hop",
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
  check(cases);
}

TEST_P(ProgramTest, UnderstandsTheFrameOfGlbDirector) {
  const std::string literal = "eed34c43003c0000 0204000000000001 02030405";
  // UDP length 60: 8 UDP, 12 GUE, 40 of IPv4 and TCP.
  ASSERT_EQ(syn4.size(), 40u);
  const Bytes v4 = ethernet(ip({director, self, udp_}, hex(literal) + syn4));
  std::string with_v6 = literal;
  with_v6.replace(with_v6.find("0204"), 4, "0229");
  const Bytes v6 = ethernet(ip({director, self, udp_}, hex(with_v6) + syn6));
  const std::vector<FrameCase> cases = {{"IPv4 inside", v4, "deliver_syn", ethernet(syn4)},
                                        {"IPv6 inside", v6, "deliver_syn", ethernet(syn6)}};
  check(cases);
}

TEST_P(ProgramTest, UnderstandsWhatTheDirectorWrites) {
  for (const bool v6 : {false, true}) {
    const Bytes from = address(v6 ? director6 : director), to = address(v6 ? self6 : self);
    const Bytes hop = address(v6 ? peer6 : peer);
    net::GueOuter outer;
    outer.ip.family = v6 ? Family::ipv6 : Family::ipv4;
    outer.ip.source = from.data();
    outer.ip.destination = to.data();
    outer.further_count = 2;
    outer.ip.flow_hash = 0x123456789abcdef0;
    outer.inner_length = syn4.size();
    Bytes header(net::gue_outer_size(outer.ip.family, 2));
    net::write_gue_outer(header.data(), outer, [&](std::size_t) { return hop.data(); });
    const std::vector<FrameCase> cases = {
        {v6 ? "IPv6" : "IPv4", ethernet(header + syn4), "deliver_syn", ethernet(syn4)}};
    check(cases);
  }
}

TEST_P(ProgramTest, LeavesAloneWhatIsNotOurs) {
  const std::vector<FrameCase> cases = {
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
  check(cases);
}

// In the maps IPv4 addresses stand in their mapped form; on the wire that form is nobody of the lists.
TEST_P(ProgramTest, AMappedAddressIsNoIpv4Address) {
  const auto mapped = [](const std::string& v4) { return "::ffff:" + v4; };
  const Bytes to_service = ip({client6, mapped(service), tcp_}, tcp(40000, 80, ack));
  Gue on_to_peer{ipip, {mapped(peer)}};
  const std::vector<FrameCase> cases = {
      {"4in6 from a director's address", ethernet(ip({mapped(director), self6, ipip}, syn4)),
       "pass_foreign_source"},
      {"6in6 from a director's address", ethernet(ip({mapped(director), self6, v6_in_ip}, syn6)),
       "pass_foreign_source"},
      {"GRE from a director's address", ethernet(ip({mapped(director), self6, gre}, hex("0000 0800") + syn4)),
       "pass_foreign_source"},
      {"GUE from a director's address", to6({ipip}, syn4, {mapped(director), self6, udp_}),
       "pass_foreign_source"},
      {"GUE from a director's prefix", to6({ipip}, syn4, {mapped("10.8.200.1"), self6, udp_}),
       "pass_foreign_source"},
      {"GUE from a peer's address", to6({ipip, {peer6}, 1}, syn4, {mapped(peer), self6, udp_}),
       "pass_foreign_source"},
      {"to the host's address", to6({ipip}, syn4, {director6, mapped(self), udp_}), "pass_not_local"},
      {"a service's address inside", to6({v6_in_ip}, to_service), "pass_not_service"},
      {"a service's address inside, over IPv4", to4({v6_in_ip}, to_service), "pass_not_service"},
      {"a peer's address as a hop", to6(on_to_peer, ack4), "deliver_not_peer", ethernet(ack4)},
      {"the host's own address as a hop", to6({ipip, {mapped(self)}}, ack4), "deliver_not_peer",
       ethernet(ack4)},
  };
  check(cases);
}

// As many as the director lets through, and a packet is still known for what it is.
TEST_P(ProgramTest, ExtensionHeadersAsTheDirectorCountsThem) {
  for (std::size_t headers = 1; headers <= GW_EXTENSION_HEADERS_MAX + 1; ++headers) {
    Bytes l4 = tcp(40000, 80, ack);
    for (std::size_t i = 0; i < headers; ++i)
      l4 = Bytes{i == 0 ? tcp_ : std::uint8_t{60}, 0, 1, 4, 0, 0, 0, 0} + l4;
    const Bytes inner = inner6(l4, 60);
    Packet packet;
    ASSERT_EQ(net::parse_ip(inner, inner.size(), Family::ipv6, false, packet), Verdict::forward);
    const bool forwarded = packet.kind == PacketKind::tcp && packet.l4 == Verdict::forward;
    EXPECT_EQ(forwarded, headers <= GW_EXTENSION_HEADERS_MAX) << headers;
    Outcome outcome;
    EXPECT_EQ(counted(to6({v6_in_ip, {peer6}}, inner), &outcome),
              forwarded ? "forward_tcp" : "deliver_not_tcp")
        << headers;
  }
}

TEST_P(ProgramTest, DropsWhatContradictsItself) {
  const auto bad_inner = [](std::size_t offset, std::uint8_t value) {
    Bytes inner = syn4;
    inner[offset] = value;
    return to4({ipip}, inner);
  };
  const std::vector<FrameCase> cases = {
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
  check(cases);
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
    const std::vector<FrameCase> cases = {
        {what, to4({ipip}, inner4(l4, tcp_, tos(c.inner)), {director, self, udp_, c.outer}), "deliver_no_hop",
         ethernet(inner4(l4, tcp_, tos(c.result)))},
        {what + ", IPv6", to6({v6_in_ip}, inner6(l4, tcp_, tos(c.inner)), {director6, self6, udp_, c.outer}),
         "deliver_no_hop", ethernet(inner6(l4, tcp_, tos(c.result)))},
    };
    check(cases);
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

// As on a kernel whose types lack one that the object reads.
class WithoutItsType : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string refusal = kernel_refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
    const Object object = kernel_typed_object();
    bytes_.assign(static_cast<const char*>(object.bytes), object.size);
    const std::string type = "tcp_request_sock", no_type = "tcp_request_none";
    std::size_t found = 0;
    for (std::size_t at = 0; (at = bytes_.find(type, at)) != std::string::npos; ++found)
      bytes_.replace(at, type.size(), no_type);
    ASSERT_GT(found, 0u);
  }
  [[nodiscard]] Object object() const { return {bytes_.data(), bytes_.size(), true}; }

  std::string bytes_;
};

TEST_F(WithoutItsType, TheObjectWithKernelTypesIsRefused) {
  const auto loaded = Program::load({}, {object()});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::refused);
}

TEST_F(WithoutItsType, ThePortableOneTakesItsPlaceAndSaysSo) {
  const auto loaded = Program::load({}, {object(), portable_object()});
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->kind(), GW_PORTABLE_REFUSED);
  const auto maps = loaded->maps();
  ASSERT_TRUE(maps);
  ASSERT_TRUE(maps->set_lists(lists()));
  // As an update does, with the maps of the running program.
  const auto again = Program::load({.maps = &*maps}, {object(), portable_object()});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->kind(), GW_PORTABLE_REFUSED);
  EXPECT_EQ(again->maps()->lists(), maps->lists());
}

TEST_F(WithoutItsType, AKernelThatTellsNoTypesGetsThePortableOneAlone) {
  const auto loaded = Program::load({}, {portable_object()});
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(loaded->kind(), GW_PORTABLE_NO_TYPES);
}

INSTANTIATE_TEST_SUITE_P(Objects, ProgramTest, testing::Values(true, false), object_name);

}  // namespace
}  // namespace guideway::agent::test
