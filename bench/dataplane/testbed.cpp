#include "bench/dataplane/testbed.h"

#include "guideway/placement.h"

namespace guideway::bench {
namespace {

std::vector<Row> rows_over(std::uint32_t count, std::uint32_t hops) {
  std::vector<Member> members;
  for (std::uint32_t n = 0; n < count; ++n) members.push_back({"b" + std::to_string(1'000'000 + n), 100});
  const Seating seating = deal(empty_seating(1, rows_default), {}, std::move(members)).value();
  return build_rows(seating, std::vector<MemberStatus>(count), {.hops = hops});
}

}  // namespace

std::shared_ptr<const Snapshot> make_snapshot(const Settings& settings, NextHops& next_hops,
                                              std::uint8_t egress) {
  auto snapshot = std::make_shared<Snapshot>();
  auto pool = std::make_shared<SnapshotPool>();
  pool->name = "web";
  pool->encapsulation = settings.encapsulation;
  pool->flow_table = settings.flow_table;
  pool->outer_source = numbered_address(settings.outer, backend_range, 1U << 15);
  pool->rows = RowTable(rows_over(settings.backends, names_further_hops(settings.encapsulation) ? 3 : 1));
  for (std::uint32_t n = 0; n < settings.backends; ++n) {
    SnapshotBackend backend;
    backend.address = numbered_address(settings.outer, backend_range, n);
    backend.id = BackendId(n);
    backend.next_hop = next_hops.index_of(backend.address).value();
    next_hops.set(backend.next_hop, {NextHop::State::resolved, egress, port_mac});
    pool->backends.push_back(backend);
  }
  std::vector<ServiceRule> rules;
  const TrafficRules& traffic = settings.traffic;
  for (std::uint32_t n = 0; n < traffic.services; ++n) {
    snapshot->services.push_back({"s" + std::to_string(n), ServiceId(n), pool.get()});
    ServiceRule rule;
    rule.address = numbered_address(traffic.family, service_range, n);
    rule.prefix_length = traffic.family == Family::ipv4 ? 32 : 128;
    rule.protocol = traffic.protocol;
    rule.ports = {{80, 80}};
    rule.service = static_cast<std::uint16_t>(n);
    rules.push_back(rule);
  }
  snapshot->add_pool(std::move(pool));
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
