#include "bench/dataplane/testbed.h"

#include "guideway/placement.h"
#include "net/byte_order.h"

namespace guideway::bench {
namespace {

IpAddress backend_address(Family family, std::uint32_t n) {
  IpAddress out;
  out.family = family;
  if (family == Family::ipv4) {
    net::store_be32(out.bytes.data(), 0x0a010000U + n);
  } else {
    net::store_be32(out.bytes.data(), 0xfd000000U);
    net::store_be32(out.bytes.data() + 12, n + 1);
  }
  return out;
}

std::vector<Row> rows_over(std::uint32_t backends, std::uint32_t hops) {
  std::vector<Member> members;
  for (std::uint32_t n = 0; n < backends; ++n) members.push_back({"b" + std::to_string(1'000'000 + n), 100});
  const Seating seating = deal(empty_seating(1, rows_default), {}, std::move(members)).value();
  return build_rows(seating, std::vector<MemberStatus>(backends), {.hops = hops});
}

}  // namespace

std::shared_ptr<const Snapshot> make_snapshot(const Settings& settings, NextHops& next_hops,
                                              std::uint8_t egress) {
  auto snapshot = std::make_shared<Snapshot>();
  auto pool = std::make_shared<SnapshotPool>();
  pool->name = "web";
  pool->encapsulation = settings.encapsulation;
  pool->flow_table = settings.flow_table;
  pool->outer_source = backend_address(settings.outer, 1U << 15);
  pool->rows = rows_over(settings.backends, names_further_hops(settings.encapsulation) ? 3 : 1);
  for (std::uint32_t n = 0; n < settings.backends; ++n) {
    SnapshotBackend backend;
    backend.address = backend_address(settings.outer, n);
    backend.id = BackendId(n);
    backend.next_hop = next_hops.index_of(backend.address).value();
    next_hops.set(backend.next_hop, {NextHop::State::resolved, egress, port_mac});
    pool->backends.push_back(backend);
    snapshot->backends.push_back({pool.get(), static_cast<MemberIndex>(n)});
  }
  std::vector<ServiceRule> rules;
  const TrafficRules& traffic = settings.traffic;
  for (std::uint32_t n = 0; n < traffic.services; ++n) {
    snapshot->services.push_back({"s" + std::to_string(n), ServiceId(n), pool.get()});
    ServiceRule rule;
    rule.address = service_address(traffic.family, n);
    rule.prefix_length = traffic.family == Family::ipv4 ? 32 : 128;
    rule.protocol = traffic.protocol;
    rule.ports = {{80, 80}};
    rule.service = n;
    rules.push_back(rule);
  }
  snapshot->pools.push_back(std::move(pool));
  snapshot->lookup = ServiceTable::build(rules);
  return snapshot;
}

Testbed::Testbed(const Settings& settings, rte_mempool* mbufs)
    : mbufs_(mbufs),
      traffic_(settings.traffic, mbufs),
      flows_(settings.table_flows, 1),
      snapshot_(make_snapshot(settings, next_hops_, 0)),
      pipeline_(parts()) {
  ports_.size = 1;
  ports_.ports[0].mac = port_mac;
  ports_.ports[0].mtu = 1600;
  ports_.ports[0].rx_ip_checksum = true;
  burst_.port = 0;
}

}  // namespace guideway::bench
