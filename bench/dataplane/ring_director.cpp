#include "bench/dataplane/ring_director.h"

#include <fmt/format.h>
#include <rte_lcore.h>

#include <cstdio>
#include <cstdlib>

namespace guideway::bench {
namespace {

rte_ring* ring_named(const std::string& name) {
  rte_ring* ring = rte_ring_lookup(name.c_str());
  if (ring == nullptr) give_up("there is no ring " + name);
  return ring;
}

}  // namespace

void give_up(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(1);
}

std::unique_ptr<Ports> open_ring_ports(std::size_t workers) {
  DirectorConfig config;
  config.workers.assign(workers, rte_lcore_id());
  for (const std::string name : {"bin", "bout"}) {
    PortConfig port;
    port.name = name;
    port.device = "ring:" + name;
    config.ports.push_back(port);
  }
  auto opened = Ports::open(config);
  if (!opened) give_up(opened.error().text());
  return std::move(*opened);
}

RingDirector::RingDirector(const Settings& settings, const Ports& ports, std::size_t workers)
    : publisher_(static_cast<unsigned>(workers)), peers_(workers) {
  for (std::size_t n = 0; n < workers; ++n) {
    counters_.push_back(std::make_unique<WorkerCounters>());
    flows_.push_back(std::make_unique<FlowState>(settings.table_flows, 1));
  }
  for (std::size_t n = 0; n < workers; ++n) {
    for (std::size_t other = 0; other < workers; ++other)
      if (other != n) peers_[n].push_back(flows_[other].get());
    const auto index = static_cast<unsigned>(n);
    workers_.push_back(
        std::make_unique<Worker>(WorkerParts{index, rte_lcore_id(), publisher_, clock_, next_hops_,
                                             ports.table(), ports.links(n), ports.pool(), Polling::busy},
                                 *counters_[n], *flows_[n], peers_[n]));
    publisher_.join(index);
  }
  publisher_.publish(make_snapshot(settings, next_hops_, 1));
}

RingDirector::~RingDirector() {
  for (std::size_t n = 0; n < workers_.size(); ++n) publisher_.leave(static_cast<unsigned>(n));
}

bool RingDirector::all_forwarded() const {
  for (const auto& counters : counters_)
    if (counters->verdicts.packets[static_cast<std::size_t>(Verdict::forward)].get() !=
        counters->verdicts.packets_in.get())
      return false;
  return true;
}

Wire::Wire(const TrafficRules& rules, rte_mempool* mbufs, std::size_t worker)
    : traffic_(rules, mbufs),
      to_worker_(ring_named(fmt::format("bin_rx{}", worker))),
      from_worker_(ring_named(fmt::format("bout_tx{}", worker))) {}

}  // namespace guideway::bench
