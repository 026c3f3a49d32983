// What becomes of a packet: one row a rule of the design's section 4.
#include <gtest/gtest.h>

#include "tests/dataplane/director_for_tests.h"

namespace guideway::testing {
namespace {

using Setup = std::function<void(DirectorForTests&)>;

struct VerdictCase {
  const char* description;
  Bytes frame;
  Verdict verdict;
  Setup setup = nullptr;
  RunOptions options = {};
};

// A good TCP packet with one thing changed.
Bytes changed(const std::function<void(Bytes&)>& change, const Ip& header = {}, const L4& l4 = {}) {
  Bytes packet = ip(header, header.protocol == net::protocol_udp ? udp(l4) : tcp(l4));
  change(packet);
  return frame(packet);
}
Bytes changed_and_summed(const std::function<void(Bytes&)>& change, const Ip& header = {},
                         const L4& l4 = {}) {
  return changed(
      [&](Bytes& packet) {
        change(packet);
        if (packet[0] % 16 >= 5) fix_ipv4_checksum(packet);
      },
      header, l4);
}

Ip with(const std::function<void(Ip&)>& change, Ip header = {}) {
  change(header);
  return header;
}
Ip udp_header(Ip header = {}) {
  header.protocol = net::protocol_udp;
  return header;
}
const L4 dns{.destination_port = 53};
const L4 syn{.flags = tcp_syn};

Ip with_extensions(std::uint8_t first, const Bytes& chain) {
  Ip header = ipv6();
  header.first_header = first;
  header.options = chain;
  return header;
}

Bytes wrapped(const char* outer_destination, const Bytes& inner,
              std::string_view gue = "0104 0000 0000 0000") {
  Ip outer = udp_header(address(outer_destination).family == Family::ipv4 ? Ip{} : ipv6());
  outer.destination = address(outer_destination);
  L4 l4{.source_port = 50000, .destination_port = 19523, .payload = from_hex(gue)};
  append(l4.payload, inner);
  return frame(ip(outer, udp(l4)));
}
Bytes in_protocol(std::uint8_t protocol, std::string_view header, const Bytes& inner) {
  Bytes payload = from_hex(header);
  append(payload, inner);
  return frame(ip(with([=](Ip& h) { h.protocol = protocol; }), payload));
}

void nobody_takes_new(DirectorForTests& d) { d.rows.assign(251, Row{{1, no_member, no_member}, 0}); }
void no_hops(DirectorForTests& d) { d.rows.assign(251, Row{}); }
void drop_unmatched(DirectorForTests& d) {
  for (auto& rule : d.rules) rule.unmatched_drop = true;
}

std::vector<VerdictCase> ethernet_cases() {
  const Bytes good = frame(ip({}, tcp()));
  return {
      {"a TCP packet to a service", good, Verdict::forward},
      {"a UDP packet to a service", frame(ip(udp_header(), udp(dns))), Verdict::forward},
      {"IPv6 TCP", frame(ip(ipv6(), tcp())), Verdict::forward},
      {"IPv6 UDP", frame(ip(udp_header(ipv6()), udp(dns))), Verdict::forward},
      {"one tag", frame(ip({}, tcp()), {.tags = {{0x8100, 5}}}), Verdict::forward},
      {"two tags", frame(ip({}, tcp()), {.tags = {{0x88a8, 5}, {0x8100, 6}}}), Verdict::forward},
      {"three tags", frame(ip({}, tcp()), {.tags = {{0x88a8, 5}, {0x8100, 6}, {0x8100, 7}}}),
       Verdict::kernel},
      {"another host's MAC", frame(ip({}, tcp()), {.destination = {2, 9, 9, 9, 9, 9}}),
       Verdict::drop_other_mac},
      {"another host's MAC where MACs are not checked",
       frame(ip({}, tcp()), {.destination = {2, 9, 9, 9, 9, 9}}), Verdict::forward,
       [](auto& d) { d.ports.ports[0].accept_any_mac = true; }},
      {"broadcast", frame(ip({}, tcp()), {.destination = {255, 255, 255, 255, 255, 255}}), Verdict::kernel},
      {"multicast", frame(ip({}, tcp()), {.destination = {1, 0, 0x5e, 0, 0, 1}}), Verdict::kernel},
      {"ARP", ethernet(0x0806, Bytes(28)), Verdict::kernel},
      {"an 802.3 length", ethernet(46, Bytes(46)), Verdict::kernel},
      {"an unknown ethertype", ethernet(0x88cc, Bytes(46)), Verdict::kernel},
      {"a frame of 13 bytes", Bytes(good.begin(), good.begin() + 13), Verdict::drop_truncated},
      {"a frame cut within its tag", Bytes{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x81, 0, 0, 5},
       Verdict::drop_truncated},
      {"cut by the snap length", good, Verdict::drop_truncated, nullptr, {.truncated = 1}},
  };
}

std::vector<VerdictCase> ip_cases() {
  const auto later = with([](Ip& h) { h.fragment = 0x0010, h.id = 0x7001; });
  const auto first = with([](Ip& h) { h.fragment = 0x2000; });
  return {
      {"not a service address",
       frame(ip(with([](Ip& h) { h.destination = address("203.0.113.11"); }), tcp())), Verdict::kernel},
      {"no such port, unmatched = kernel", frame(ip({}, tcp({.destination_port = 81}))), Verdict::kernel},
      {"no such port, unmatched = drop", frame(ip({}, tcp({.destination_port = 81}))),
       Verdict::drop_unmatched, drop_unmatched},
      {"no such protocol, unmatched = kernel", frame(ip(with([](Ip& h) { h.protocol = 132; }), tcp())),
       Verdict::kernel},
      {"no such protocol, unmatched = drop", frame(ip(with([](Ip& h) { h.protocol = 132; }), tcp())),
       Verdict::drop_unmatched, drop_unmatched},
      {"a port of the other protocol", frame(ip(udp_header(), udp({.destination_port = 80}))),
       Verdict::kernel},
      {"IPv4 options",
       frame(ip(with([](Ip& h) {
                  h.options = {1, 1, 1, 0};
                }),
                tcp())),
       Verdict::forward},
      {"IHL 4", changed_and_summed([](Bytes& p) { p[0] = 0x44; }), Verdict::drop_bad_ip_header},
      {"IHL beyond the frame", changed([](Bytes& p) {
         p[0] = 0x4f;
         p.resize(30);
       }),
       Verdict::drop_bad_ip_header},
      {"a header cut short", changed([](Bytes& p) { p.resize(19); }), Verdict::drop_bad_ip_header},
      {"version 6 under IPv4's ethertype", ethernet(0x0800, ip(ipv6(), tcp())), Verdict::drop_bad_ip_version},
      {"total length below the header", changed_and_summed([](Bytes& p) { net::store_be16(&p[2], 19); }),
       Verdict::drop_bad_ip_length},
      {"total length beyond the frame",
       changed_and_summed([](Bytes& p) { net::store_be16(&p[2], static_cast<std::uint16_t>(p.size() + 1)); }),
       Verdict::drop_bad_ip_length},
      {"a wrong header checksum", changed([](Bytes& p) { p[10] ^= 1; }), Verdict::drop_bad_ip_checksum},
      {"a header checksum that the NIC found good",
       changed([](Bytes& p) { p[10] ^= 1; }),
       Verdict::forward,
       [](auto& d) { d.ports.ports[0].rx_ip_checksum = true; },
       {.flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD}},
      {"a NIC's flag that is not to be trusted",
       changed([](Bytes& p) { p[10] ^= 1; }),
       Verdict::drop_bad_ip_checksum,
       nullptr,
       {.flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD}},
      {"TTL 0", frame(ip(with([](Ip& h) { h.ttl = 0; }), tcp())), Verdict::drop_ttl_zero},
      {"TTL 1", frame(ip(with([](Ip& h) { h.ttl = 1; }), tcp())), Verdict::forward},
      {"hop limit 0", frame(ip(with([](Ip& h) { h.ttl = 0; }, ipv6()), tcp())), Verdict::drop_ttl_zero},
      {"IPv6 with version 5", changed([](Bytes& p) { p[0] = 0x50; }, ipv6()), Verdict::drop_bad_ip_version,
       nullptr},
      {"IPv6 payload beyond the frame", changed([](Bytes& p) { ++p[5]; }, ipv6()),
       Verdict::drop_bad_ip_length},
      {"a later fragment", frame(ip(later, tcp())), Verdict::held},
      {"a first fragment", frame(ip(first, tcp({.payload = Bytes(12)}))), Verdict::forward},
      {"a first fragment of no multiple of eight", frame(ip(first, tcp())), Verdict::drop_bad_ip_length},
      {"a first fragment with 19 bytes of TCP", frame(ip(first, Bytes(19))), Verdict::drop_tiny_fragment},
      {"a fragment to nobody of ours",
       frame(ip(with([](Ip& h) { h.destination = address("203.0.113.11"); }, first), Bytes(8))),
       Verdict::kernel},
  };
}

std::vector<VerdictCase> extension_cases() {
  const Bytes fragment_first = from_hex("0600 0001 0000 0007"), atomic = from_hex("0600 0000 0000 0007"),
              fragment_later = from_hex("0600 0008 0000 0007");
  Bytes nine;
  for (int i = 0; i < 9; ++i) append(nine, from_hex(i == 8 ? "0600 0104 0000 0000" : "3c00 0104 0000 0000"));
  Bytes eight;
  for (int i = 0; i < 8; ++i) append(eight, from_hex(i == 7 ? "0600 0104 0000 0000" : "3c00 0104 0000 0000"));
  const auto v6 = [](std::uint8_t first, std::string_view chain) {
    return frame(ip(with_extensions(first, from_hex(chain)), tcp()));
  };
  return {
      {"hop-by-hop", v6(0, "0600 0104 0000 0000"), Verdict::forward},
      {"hop-by-hop, routing, destination options",
       v6(0, "2b00 0104 0000 0000 3c00 0000 0000 0000 0601 010c 0000 0000 0000 0000 0000 0000"),
       Verdict::forward},
      {"hop-by-hop behind another header", v6(60, "0000 0104 0000 0000 0600 0104 0000 0000"),
       Verdict::drop_bad_extension},
      {"a header longer than the packet", v6(60, "06ff 0104 0000 0000"), Verdict::drop_bad_extension},
      {"eight headers", frame(ip(with_extensions(60, eight), tcp())), Verdict::forward},
      {"nine headers", frame(ip(with_extensions(60, nine), tcp())), Verdict::drop_bad_extension},
      {"a chain that ends with the packet",
       frame(ip(with_extensions(60, from_hex("3c00 0104 0000 0000")), {})), Verdict::drop_bad_extension},
      {"an atomic fragment", frame(ip(with_extensions(44, atomic), tcp())), Verdict::forward},
      {"a first fragment", frame(ip(with_extensions(44, fragment_first), tcp({.payload = Bytes(12)}))),
       Verdict::forward},
      {"a first fragment with 8 bytes of TCP", frame(ip(with_extensions(44, fragment_first), Bytes(8))),
       Verdict::drop_tiny_fragment},
      {"a later fragment that would write over TCP's flags",
       frame(ip(with_extensions(44, fragment_later), Bytes(3))), Verdict::drop_tiny_fragment},
      {"a later fragment", frame(ip(with_extensions(44, from_hex("0600 0018 0000 0008")), Bytes(3))),
       Verdict::held},
      {"a bad chain to nobody of ours",
       frame(ip(with([](Ip& h) { h.destination = address("2001:db8:2::11"); },
                     with_extensions(60, from_hex("06ff 0104 0000 0000"))),
                tcp())),
       Verdict::kernel},
  };
}

std::vector<VerdictCase> l4_cases() {
  const auto tcp_changed = [](std::size_t at, std::uint8_t value) {
    return changed([=](Bytes& p) { p[20 + at] = value; });
  };
  const auto udp_length = [](std::uint16_t length) {
    return changed([=](Bytes& p) { net::store_be16(&p[24], length); }, udp_header(), dns);
  };
  return {
      {"TCP data offset 4", tcp_changed(12, 0x40), Verdict::drop_bad_l4},
      {"TCP data offset past the end", tcp_changed(12, 0x80), Verdict::drop_bad_l4},
      {"TCP data offset up to the end", tcp_changed(12, 0x70), Verdict::forward},
      {"TCP header cut short", frame(ip({}, Bytes(19))), Verdict::drop_bad_l4},
      {"UDP length 7", udp_length(7), Verdict::drop_bad_l4},
      {"UDP length past the payload", udp_length(17), Verdict::drop_bad_l4},
      {"UDP length shorter than the payload", udp_length(8), Verdict::forward},
      {"UDP header cut short", frame(ip(udp_header(), Bytes(7))), Verdict::drop_bad_l4},
      {"ICMP cut short", frame(ip(with([](Ip& h) { h.protocol = 1; }), Bytes(7))),
       Verdict::drop_icmp_malformed},
      {"a bad TCP header to nobody of ours",
       frame(ip(with([](Ip& h) { h.destination = address("203.0.113.11"); }), Bytes(19))), Verdict::kernel},
      {"nobody takes new flows: SYN", frame(ip({}, tcp(syn))), Verdict::drop_no_backend_syn,
       nobody_takes_new},
      {"nobody takes new flows: UDP", frame(ip(udp_header(), udp(dns))), Verdict::drop_no_backend_udp,
       nobody_takes_new},
      {"nobody takes new flows: other TCP goes to who is left", frame(ip({}, tcp())), Verdict::forward,
       nobody_takes_new},
      {"nobody takes new flows: SYN+ACK is no new flow", frame(ip({}, tcp({.flags = tcp_syn | tcp_ack}))),
       Verdict::forward, nobody_takes_new},
      {"no hop at all", frame(ip({}, tcp())), Verdict::drop_no_backend, no_hops},
      {"wrapped by a director, to a service address", wrapped("203.0.113.10", ip({}, tcp())),
       Verdict::drop_loop},
      {"wrapped by a director, to a host's own address", wrapped("203.0.113.11", ip({}, tcp())),
       Verdict::kernel},
      {"GUE with somebody else's packet inside",
       wrapped("203.0.113.10", ip(with([](Ip& h) { h.destination = address("192.0.2.9"); }), tcp())),
       Verdict::kernel},
      {"wrapped with two more hops",
       wrapped("203.0.113.10", ip({}, tcp()), "0304 0000 0000 0002 0a000001 0a000002"), Verdict::drop_loop},
      {"IPv6, wrapped with two more hops",
       wrapped("2001:db8:2::10", ip(ipv6(), tcp()),
               "0929 0000 0001 0002 fd000000000000000000000000000001 fd000000000000000000000000000002"),
       Verdict::drop_loop},
      {"4in4 with a service's packet inside", in_protocol(4, "", ip({}, tcp())), Verdict::drop_loop},
      {"6in4 with a service's packet inside", in_protocol(41, "", ip(ipv6(), tcp())), Verdict::drop_loop},
      {"GRE with a service's packet inside", in_protocol(47, "0000 0800", ip({}, tcp())), Verdict::drop_loop},
      {"GRE with a service's IPv6 packet inside", in_protocol(47, "0000 86dd", ip(ipv6(), tcp())),
       Verdict::drop_loop},
      {"GRE with a key is none of ours", in_protocol(47, "2000 0800 0000 0001", ip({}, tcp())),
       Verdict::kernel},
      {"GRE cut short", in_protocol(47, "0000 08", {}), Verdict::kernel},
  };
}

std::vector<VerdictCase> egress_cases() {
  const Bytes good = frame(ip({}, tcp()));
  const std::size_t wrapped_size = 20 + 8 + 8 + 8 + 48;
  const auto mtu = [](std::size_t value) {
    return [value](DirectorForTests& d) { d.ports.ports[1].mtu = static_cast<std::uint16_t>(value); };
  };
  return {
      {"exactly the egress MTU", good, Verdict::forward, mtu(wrapped_size)},
      {"one byte beyond the egress MTU", good, Verdict::answer, mtu(wrapped_size - 1)},
      {"the neighbour has no MAC", good, Verdict::drop_next_hop_unresolved,
       [](auto& d) { d.next_hops.set(d.pool.backends[0].next_hop, {}); }},
      {"the egress link is down", good, Verdict::drop_port_down,
       [](auto& d) { d.ports.ports[1].link_up = false; }},
      {"the next hop's port is down", good, Verdict::drop_port_down,
       [](auto& d) {
         d.next_hops.set(d.pool.backends[0].next_hop, {NextHop::State::port_down, 1, {}});
       }},
      {"a next hop by a port that is not there", good, Verdict::drop_next_hop_unresolved,
       [](auto& d) {
         d.next_hops.set(d.pool.backends[0].next_hop, {NextHop::State::resolved, 7, {}});
       }},
      {"the egress queue is full", good, Verdict::drop_tx_full, nullptr, {.port_takes = 0}},
      {"the twin is full",
       ethernet(0x0806, Bytes(28)),
       Verdict::drop_kernel_full,
       nullptr,
       {.port_takes = 0}},
  };
}

void run_cases(const std::vector<VerdictCase>& cases) {
  for (const VerdictCase& c : cases) {
    SCOPED_TRACE(c.description);
    DirectorForTests director;
    if (c.setup) c.setup(director);
    const Outcome outcome = director.run(c.frame, c.options);
    EXPECT_EQ(name(outcome.verdict), name(c.verdict));
    EXPECT_EQ(director.count(c.verdict), 1U);
    if (c.verdict == Verdict::kernel) {
      EXPECT_EQ(outcome.frame, c.frame) << "the kernel's frame is touched";
    }
  }
}

TEST(Verdict, Ethernet) { run_cases(ethernet_cases()); }
TEST(Verdict, Ip) { run_cases(ip_cases()); }
TEST(Verdict, Extensions) { run_cases(extension_cases()); }
TEST(Verdict, L4) { run_cases(l4_cases()); }
TEST(Verdict, Egress) { run_cases(egress_cases()); }

// How a driver cut a frame into buffers decides nothing.
TEST(Verdict, HoweverAFrameIsSegmented) {
  for (const auto& cases : {ethernet_cases(), ip_cases(), extension_cases(), l4_cases()}) {
    for (const VerdictCase& c : cases) {
      for (const std::size_t segment : {1, 5, 13, 14, 15, 17, 18, 30, 34, 40, 42, 46, 50, 54, 60, 70, 90}) {
        SCOPED_TRACE(std::string(c.description) + ", segments of " + std::to_string(segment));
        DirectorForTests director;
        if (c.setup) c.setup(director);
        RunOptions options = c.options;
        options.segment = segment;
        const Outcome outcome = director.run(c.frame, options);
        ASSERT_EQ(name(outcome.verdict), name(c.verdict));
        if (c.verdict == Verdict::kernel) {
          ASSERT_EQ(outcome.frame, c.frame);
        }
      }
    }
  }
}

// Every kind of packet in one burst: each keeps its own fate, and counts once.
TEST(Verdict, MixedBursts) {
  std::vector<Bytes> frames;
  std::vector<Verdict> verdicts;
  for (const auto& cases : {ethernet_cases(), ip_cases(), extension_cases(), l4_cases()}) {
    for (const VerdictCase& c : cases) {
      if (c.setup || c.options.flags != 0 || c.options.truncated != 0) continue;
      frames.push_back(c.frame);
      verdicts.push_back(c.verdict);
    }
  }
  DirectorForTests director;
  const auto outcomes = director.run(frames);
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_EQ(name(outcomes[i].verdict), name(verdicts[i])) << i;
}

}  // namespace
}  // namespace guideway::testing
