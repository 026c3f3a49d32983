#include "bench/dataplane/traffic.h"

#include <rte_atomic.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/ethernet.h"
#include "net/protocols.h"

namespace guideway::bench {
namespace {

constexpr std::size_t frame_size_min = 64;
constexpr std::uint16_t service_port = 80;
constexpr std::array<std::size_t, 12> imix{64, 576, 64, 64, 1500, 64, 576, 64, 576, 64, 64, 576};

// Spreads consecutive numbers over 32 bits (the finaliser of MurmurHash3, which is a bijection).
std::uint32_t scattered(std::uint32_t n) {
  n = (n ^ n >> 16) * 0x85ebca6b;
  n = (n ^ n >> 13) * 0xc2b2ae35;
  return n ^ n >> 16;
}

// Popularity falls as 1/rank, as between clients of a busy site; drawn by inversion of its continuous form.
std::vector<std::uint32_t> zipf(std::uint32_t flows) {
  constexpr std::size_t length = 1U << 20;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::uint32_t> out(length);
  for (auto& flow : out) {
    const double rank = std::exp(uniform(random) * std::log(double{1.0} * flows));
    flow = scattered(static_cast<std::uint32_t>(rank)) % flows;
  }
  return out;
}

// A NIC's writes are in the cache when a driver reads them; these would still be on their way there, and loads that span
// several of them would wait.
void settle() { rte_mb(); }

std::size_t header_size(const TrafficRules& rules) {
  return net::ethernet_size + (rules.family == Family::ipv4 ? net::ipv4_size : net::ipv6_size) +
         (rules.protocol == net::protocol_tcp ? net::tcp_size : net::udp_size);
}

}  // namespace

IpAddress numbered_address(Family family, const AddressRange& range, std::uint32_t n) {
  IpAddress out;
  out.family = family;
  if (family == Family::ipv4) {
    net::store_be32(out.bytes.data(), range.ipv4 + n);
  } else {
    net::store_be32(out.bytes.data(), range.ipv6);
    net::store_be32(out.bytes.data() + 12, n + 1);
  }
  return out;
}

Traffic::Traffic(const TrafficRules& rules, rte_mempool* mbufs) : rules_(rules) {
  if (rules.popularity == Popularity::zipf) popular_ = zipf(rules.flows);
  std::uint8_t* frame = image_.data();
  std::memcpy(frame, rules.mac.data(), rules.mac.size());
  net::store_be16(frame + 12, net::ethertype_of(rules.family));
  std::uint8_t* ip = frame + net::ethernet_size;
  std::uint8_t* l4 = ip + (rules.family == Family::ipv4 ? net::ipv4_size : net::ipv6_size);
  if (rules.family == Family::ipv4) {
    net::store_be16(ip, 0x4500);
    net::store_be16(ip + 6, 0x4000);  // DF, as TCP sends
    net::store_be16(ip + 8, static_cast<std::uint16_t>(64U << 8 | rules.protocol));
    fixed_sum_.add({ip, net::ipv4_size});
  } else {
    net::store_be32(ip, 6U << 28);
    net::store_be16(ip + 6, static_cast<std::uint16_t>(unsigned{rules.protocol} << 8 | 64U));
  }
  net::store_be16(l4 + 2, service_port);
  if (rules.protocol == net::protocol_tcp) l4[12] = 0x50;
  if (rte_pktmbuf_alloc_bulk(mbufs, ring_.data(), ring_size) != 0) {
    std::fputs("bench: no mbufs\n", stderr);
    std::exit(1);
  }
}

Traffic::~Traffic() { rte_pktmbuf_free_bulk(ring_.data(), ring_size); }

std::uint32_t Traffic::draw() {
  if (!popular_.empty()) return popular_[drawn_++ & (popular_.size() - 1)];
  return static_cast<std::uint32_t>(
      std::uint64_t{scattered(static_cast<std::uint32_t>(drawn_++))} * rules_.flows >> 32);
}

std::size_t Traffic::next_size() {
  const std::size_t least = std::max(frame_size_min, header_size(rules_));
  return rules_.sizes == Sizes::least ? least : std::max(least, imix[at_ % imix.size()]);
}

// Nothing that was just stored is read again, as a driver reads none of it.
void Traffic::write_ipv4(std::uint8_t* ip, std::uint32_t flow, std::size_t size) {
  const std::uint16_t length = net::swap16(static_cast<std::uint16_t>(size - net::ethernet_size));
  const std::uint32_t source = net::swap32(0x0a000000U + flow);
  const std::uint32_t service = net::swap32(service_range.ipv4 + service_of(flow, rules_.services));
  net::store(ip + 2, length);
  net::store(ip + 10, net::ChecksumSum{fixed_sum_}.add(length).add(source).add(service).checksum());
  net::store(ip + 12, std::uint64_t{source} | std::uint64_t{service} << 32);
}

void Traffic::write_ipv6(std::uint8_t* ip, std::uint32_t flow, std::size_t size) {
  net::store_be16(ip + 4, static_cast<std::uint16_t>(size - net::ethernet_size - net::ipv6_size));
  net::store_be32(ip + 8, 0x20010db8U);
  net::store_be32(ip + 12, 0x00010000U);
  net::store_be32(ip + 20, flow);
  std::memcpy(ip + 24,
              numbered_address(Family::ipv6, service_range, service_of(flow, rules_.services)).bytes.data(),
              16);
}

void Traffic::write(rte_mbuf& mbuf, std::uint32_t flow, std::size_t size, Flags flags) {
  mbuf.data_off = RTE_PKTMBUF_HEADROOM;
  mbuf.ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD;
  mbuf.packet_type = 0;
  mbuf.pkt_len = static_cast<std::uint32_t>(size);
  mbuf.data_len = static_cast<std::uint16_t>(size);
  auto* frame = rte_pktmbuf_mtod(&mbuf, std::uint8_t*);
  std::memcpy(frame, image_.data(), image_size);
  std::uint8_t* ip = frame + net::ethernet_size;
  const bool ipv4 = rules_.family == Family::ipv4;
  ipv4 ? write_ipv4(ip, flow, size) : write_ipv6(ip, flow, size);
  std::uint8_t* l4 = ip + (ipv4 ? net::ipv4_size : net::ipv6_size);
  net::store_be16(l4, static_cast<std::uint16_t>(1024 + flow % 50'000));
  if (rules_.protocol == net::protocol_tcp) {
    l4[13] = static_cast<std::uint8_t>(flags);
  } else {
    net::store_be16(l4 + 4, static_cast<std::uint16_t>(frame + size - l4));
  }
}

void Traffic::receive(Burst& burst, Flags flags) {
  for (auto& packet : burst.packets) {
    packet = ring_[at_];
    write(*packet, draw(), next_size(), flags);
    at_ = (at_ + 1) % ring_size;
  }
  burst.size = burst_max;
  settle();
}

void Traffic::receive_in_order(Burst& burst, Flags flags, std::uint32_t first) {
  for (auto& packet : burst.packets) {
    packet = ring_[at_];
    write(*packet, first++, next_size(), flags);
    at_ = (at_ + 1) % ring_size;
  }
  burst.size = burst_max;
  settle();
}

}  // namespace guideway::bench
