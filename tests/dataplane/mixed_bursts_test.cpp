// Mixed bursts: what the stages keep at hand for packets in a row of one pool, port or service must not get into the
// next one. Whatever lies side by side in a burst, each packet leaves as it does alone.
#include <gtest/gtest.h>

#include <random>

#include "net/icmp.h"
#include "tests/dataplane/director_for_tests.h"
#include "tests/dataplane/fragments_for_tests.h"

namespace guideway::testing {
namespace {

constexpr unsigned pools = 24, backends_each = 4;

// All that can differ between two pools, so that neighbours in a burst share some of it.
SnapshotPool pool_of(unsigned n, NextHops& next_hops) {
  constexpr Encapsulation encapsulations[] = {Encapsulation::gue, Encapsulation::ipip, Encapsulation::gre,
                                              Encapsulation::l2};
  SnapshotPool pool;
  pool.name = "pool-" + std::to_string(n);
  pool.seed = n % 5;
  pool.affinity = n % 3 == 0 ? Affinity::client : Affinity::flow;
  pool.encapsulation = encapsulations[n % 4];
  pool.gue_port = static_cast<std::uint16_t>(n % 7 == 0 ? 6080 : 19523);
  pool.udp_checksum = n % 8 == 4;
  pool.copy_tos = n % 5 != 1;
  pool.flow_table = n % 6 < 2;
  pool.too_big = n % 9 == 0 ? TooBig::drop : TooBig::fragment;
  const bool ipv4 = n / 4 % 2 == 0;
  pool.outer_source = address(ipv4 ? "10.0.0.0" : "fd00::2");
  pool.outer_source_spread = ipv4 && n % 16 > 7 ? 0xff : 0;
  constexpr Row some[] = {{{0, 1, 2}, 1},
                          {{1, 3, no_member}, 1},
                          {{2, no_member, no_member}, 1},
                          {{no_member, no_member, no_member}, 0},
                          {{3, 2, 0}, 0}};
  std::vector<Row> rows;
  for (std::size_t row = 0; row < 251; ++row) rows.push_back(some[row % (n % 2 == 0 ? 3 : 5)]);
  pool.rows = RowTable(std::move(rows));
  for (unsigned i = 0; i < backends_each; ++i) {
    SnapshotBackend backend;
    const unsigned id = n * backends_each + i;
    backend.address = address((ipv4 ? "10.0.1." : "fd00:1::") + std::to_string(id));
    backend.id = BackendId(id);
    backend.next_hop = next_hops.index_of(backend.address).value();
    // Few have no way; the others leave by ports that differ in MAC, tag and MTU.
    const auto state = id % 13 == 5 ? NextHop::State::unresolved : NextHop::State::resolved;
    next_hops.set(backend.next_hop, {.state = state,
                                     .port = static_cast<std::uint8_t>(id % 3),
                                     .mac = DirectorForTests::backend_mac(id),
                                     .behind_router = id % 11 == 3});
    pool.backends.push_back(backend);
  }
  return pool;
}

std::unique_ptr<DirectorForTests> director() {
  auto out = std::make_unique<DirectorForTests>(Family::ipv4, 1U << 14);
  out->ports.size = 3;
  out->ports.ports[2].mac = {0x02, 0, 0, 0, 0, 0x03};
  out->ports.ports[2].vlan = 7;
  out->ports.ports[2].mtu = 600;
  out->ports.ports[1].mtu = 1000;
  out->pool = pool_of(0, out->next_hops);
  out->rows.assign(out->pool.rows.begin(), out->pool.rows.end());
  for (unsigned n = 1; n < pools; ++n) out->further_pools.push_back(pool_of(n, out->next_hops));
  out->rules.clear();
  for (unsigned n = 0; n < pools; ++n) {
    for (const bool ipv4 : {true, false}) {
      for (const bool tcp : {true, false}) {
        ServiceRule rule;
        rule.address = address((ipv4 ? "203.0.113." : "2001:db8:2::") + std::to_string(n));
        rule.prefix_length = ipv4 ? 32 : 128;
        rule.protocol = tcp ? net::protocol_tcp : net::protocol_udp;
        if (n % 3 != 2) rule.ports = {{80, 80}};
        rule.service = static_cast<std::uint16_t>(n * 4 + (ipv4 ? 0U : 2U) + (tcp ? 0U : 1U));
        rule.pool = static_cast<std::uint16_t>(n);
        rule.unmatched_drop = n % 2 == 0;
        rule.ping = static_cast<std::uint8_t>(n % 3);
        out->rules.push_back(rule);
      }
    }
  }
  return out;
}

class Frames {
 public:
  explicit Frames(std::uint32_t seed) : random_(seed) {}

  Bytes next() {
    if (!fragments_.empty() && below(2) == 0) {
      const Bytes out = std::move(fragments_.back());
      fragments_.pop_back();
      return out;
    }
    const bool ipv4 = below(2) == 0;
    Ip header = ipv4 ? Ip{} : ipv6();
    // Neighbours are often of one service.
    if (below(3) == 0) service_ = below(pools);
    header.destination = address((ipv4 ? "203.0.113." : "2001:db8:2::") + std::to_string(service_));
    header.tos = static_cast<std::uint8_t>(below(256));
    header.fragment = below(2) == 0 ? 0x4000 : 0;
    header.ttl = static_cast<std::uint8_t>(below(30) == 0 ? 0 : 64);
    if (below(6) == 0) add_options(header);
    const unsigned kind = below(16);
    Bytes payload;
    L4 l4{.source_port = static_cast<std::uint16_t>(1000 + below(40)),
          .destination_port = static_cast<std::uint16_t>(below(8) == 0 ? 81 : 80),
          .flags = flags(),
          .payload = Bytes(below(2) == 0 ? below(1200) : below(30), 'x')};
    if (kind < 8) {
      payload = tcp(l4);
    } else if (kind < 13) {
      header.protocol = net::protocol_udp;
      if (below(6) == 0) {
        l4.destination_port = 19523;
        l4.payload = from_hex("0104 0000 0000 0000");  // GUE, and a packet to a service in it
        append(l4.payload, ip({}, tcp()));
      }
      payload = udp(l4);
      if (below(10) == 0) payload[5] ^= 1;  // a length that lies
    } else {
      header.protocol = ipv4 ? net::protocol_icmp : net::protocol_icmpv6;
      payload = kind == 13 ? echo(ipv4) : error(ipv4, header, l4);
    }
    if (below(8) == 0 && header.options.empty()) {
      // One of them now, the others in whatever order among those to come.
      header.id = ++fragmented_;
      for (Bytes& piece : fragments(header, payload, 8 * (1 + below(40)))) {
        fragments_.push_back(std::move(piece));
        std::swap(fragments_.back(), fragments_[below(static_cast<unsigned>(fragments_.size()))]);
      }
      const Bytes out = std::move(fragments_.back());
      fragments_.pop_back();
      return out;
    }
    Link link;
    if (below(3) == 0) link.padding = below(30);
    if (below(8) == 0) link.tags = {{0x8100, static_cast<std::uint16_t>(below(4096))}};
    Bytes out = frame(ip(header, payload), link);
    if (below(30) == 0) std::fill_n(out.begin(), 6, std::uint8_t{0xff});
    if (below(30) == 0) out.resize(below(static_cast<unsigned>(out.size())) + 1);
    if (below(30) == 0) out[below(static_cast<unsigned>(out.size()))] ^= 0x10;
    return out;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

 private:
  std::uint8_t flags() {
    constexpr std::uint8_t choices[] = {tcp_ack,           tcp_ack,           tcp_syn,
                                        tcp_syn | tcp_ack, tcp_fin | tcp_ack, tcp_rst};
    return choices[below(std::size(choices))];
  }
  void add_options(Ip& header) {
    if (header.source.family == Family::ipv4) {
      header.options = Bytes(4 * (1 + below(3)), 1);
      return;
    }
    header.first_header = net::protocol_destination_options;
    header.options = from_hex("0600 0104 0000 0000");
    header.protocol = net::protocol_tcp;
  }
  static Bytes echo(bool ipv4) { return {std::uint8_t(ipv4 ? 8 : 128), 0, 1, 2, 3, 4, 5, 6, 7}; }
  Bytes error(bool ipv4, const Ip& header, const L4& l4) {
    Ip quoted = ipv4 ? Ip{} : ipv6();
    quoted.destination = quoted.source;
    quoted.source = header.destination;
    Bytes out = {std::uint8_t(ipv4 ? 3 : 1), 0, 0, 0, 0, 0, 0, 0};
    append(out, ip(quoted, tcp({.source_port = l4.destination_port, .destination_port = l4.source_port})));
    return out;
  }

  std::mt19937 random_;
  unsigned service_ = 0;
  std::vector<Bytes> fragments_;  // still to come
  std::uint16_t fragmented_ = 0;
};

// A fragment that was held and never came out was dropped with its datagram, behind the outcome's back.
Verdict end_of(const Outcome& outcome) {
  return outcome.verdict == Verdict::held ? Verdict::drop_fragment : outcome.verdict;
}

bool same(const Outcome& a, const Outcome& b) {
  return end_of(a) == end_of(b) && a.frame == b.frame && a.port == b.port && a.further == b.further;
}

void expect_the_same_counters(const DirectorForTests& a, const DirectorForTests& b) {
  for (std::size_t i = 0; i < verdict_count; ++i)
    EXPECT_EQ(a.counters.verdicts.packets[i].get(), b.counters.verdicts.packets[i].get()) << i;
  for (unsigned id = 0; id < pools * backends_each; ++id) {
    const auto &of_a = a.counters.backend(BackendId(id)), &of_b = b.counters.backend(BackendId(id));
    EXPECT_EQ(of_a.packets.get(), of_b.packets.get()) << id;
    EXPECT_EQ(of_a.bytes.get(), of_b.bytes.get()) << id;
  }
  for (unsigned id = 0; id < pools * 4; ++id) {
    const auto &of_a = a.counters.service(ServiceId(id)), &of_b = b.counters.service(ServiceId(id));
    EXPECT_EQ(of_a.packets.get(), of_b.packets.get()) << id;
    EXPECT_EQ(of_a.unmatched.get(), of_b.unmatched.get()) << id;
  }
}

TEST(MixedBursts, APacketLeavesAsItDoesAlone) {
  const auto together = director(), alone = director();
  Frames frames(1);
  for (unsigned burst = 0; burst < 400; ++burst) {
    std::vector<Bytes> those(1 + frames.below(burst_max));
    for (Bytes& frame : those) frame = frames.next();
    constexpr std::size_t segments[] = {2048, 2048, 64, 40, 9};
    const RunOptions options{.segment = segments[frames.below(std::size(segments))]};
    // So long that no burst uses up what may be said of packets that are too big.
    together->now_ms = alone->now_ms += 100;
    together->run(those, options);
    for (const Bytes& frame : those) alone->run(frame);
  }
  together->now_ms = alone->now_ms += 10'000;
  together->poll();
  alone->poll();
  std::size_t pieces = 0;
  for (std::size_t n = 0; n < together->packets() && !HasFailure(); ++n) {
    const Outcome &got = together->outcome(n), &expected = alone->outcome(n);
    pieces += expected.further.size();
    EXPECT_TRUE(same(got, expected)) << "packet " << n << ": " << name(got.verdict) << ", alone "
                                     << name(expected.verdict);
  }
  expect_the_same_counters(*together, *alone);
  for (const Verdict verdict :
       {Verdict::forward, Verdict::kernel, Verdict::answer, Verdict::drop_too_big, Verdict::drop_unmatched,
        Verdict::drop_no_backend, Verdict::drop_no_backend_syn, Verdict::drop_next_hop_unresolved,
        Verdict::drop_loop, Verdict::drop_bad_l4, Verdict::drop_icmp_unknown_flow, Verdict::drop_fragment})
    EXPECT_GT(together->count(verdict), 20U) << name(verdict) << ": too few to be mixed up";
  EXPECT_GT(pieces, 20U);
}

}  // namespace
}  // namespace guideway::testing
