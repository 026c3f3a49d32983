#include "bench/director/endless_port.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "bench/director/give_up.h"
#include "net/byte_order.h"
#include "net/ethernet.h"

namespace guideway::bench {

double Rounds::share(double of_all) const {
  std::uint64_t left = static_cast<std::uint64_t>(static_cast<double>(count_) * of_all);
  for (std::size_t n = 0; n + 1 < of_.size(); ++n) {
    if (left < of_[n]) return static_cast<double>((n + 1) * cycles_each);
    left -= of_[n];
  }
  return most();
}

EndlessPort& EndlessPort::open(const std::string& name, const TrafficRules& rules) {
  static std::vector<EndlessPort*> all;
  return *all.emplace_back(new EndlessPort(name, rules));
}

EndlessPort::EndlessPort(const std::string& name, const TrafficRules& rules) {
  sent_ring_ = rte_ring_lookup((name + "_tx0").c_str());
  if (sent_ring_ == nullptr || rte_eth_dev_get_port_by_name(("net_ring_" + name).c_str(), &port_) != 0)
    give_up("there is no ring port " + name);
  mbufs_ = rte_pktmbuf_pool_create("endless", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (mbufs_ == nullptr) give_up("no memory for packets");
  TrafficRules own = rules;
  rte_ether_addr mac{};
  rte_eth_macaddr_get(port_, &mac);
  std::copy(std::begin(mac.addr_bytes), std::end(mac.addr_bytes), own.mac.begin());
  traffic_ = std::make_unique<Traffic>(own, mbufs_);
  swaps_.reserve(swaps_max);
  const auto received = [](std::uint16_t, std::uint16_t, rte_mbuf** packets, std::uint16_t,
                           std::uint16_t room,
                           void* self) { return static_cast<EndlessPort*>(self)->poll(packets, room); };
  if (rte_eth_add_rx_callback(port_, 0, received, this) == nullptr) give_up("ethdev takes no callback");
}

EndlessPort::Probe EndlessPort::probe() const {
  const std::uint64_t seen = seen_.load(std::memory_order_acquire);
  if (seen >> 32 != flow_.load(std::memory_order_relaxed)) return {};
  return {static_cast<std::uint32_t>(seen), since_tsc_.load(std::memory_order_relaxed)};
}

std::uint16_t EndlessPort::poll(rte_mbuf** packets, std::uint16_t room) {
  now_ = rte_rdtsc();
  if (thread_.load(std::memory_order_relaxed) == 0) thread_.store(gettid(), std::memory_order_release);
  const Mode mode = mode_.load(std::memory_order_acquire);
  swapped_ = false;
  take_back();
  measure(mode, now_);
  last_ = now_;
  mode_before_ = mode;
  if (mode == Mode::silent || room < burst_max) return 0;
  traffic_->receive(burst_, Flags::ack);
  flow_sent_ = flow_.load(std::memory_order_acquire);
  traffic_->rewrite(*burst_.packets[0], flow_sent_, Flags::syn);
  probe_expected_ = true;
  std::copy(burst_.packets.begin(), burst_.packets.end(), packets);
  received_.store(received_.load(std::memory_order_relaxed) + burst_max, std::memory_order_release);
  return static_cast<std::uint16_t>(burst_max);
}

// The packets stay with the traffic, which knows each of them.
void EndlessPort::take_back() {
  std::array<rte_mbuf*, burst_max> back;
  while (const unsigned count =
             rte_ring_dequeue_burst(sent_ring_, reinterpret_cast<void**>(back.data()), burst_max, nullptr)) {
    for (unsigned n = 0; n < count; ++n)
      if (probe_expected_ && back[n] == burst_.packets[0]) look_at(*back[n]);
    sent_.store(sent_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }
}

void EndlessPort::look_at(const rte_mbuf& probe) {
  probe_expected_ = false;
  const auto* frame = rte_pktmbuf_mtod(&probe, const std::uint8_t*);
  const std::uint64_t before = seen_.load(std::memory_order_relaxed);
  const std::uint64_t seen =
      std::uint64_t{flow_sent_} << 32 | net::load_be32(frame + net::ethernet_size + 16);
  if (before == seen) return;
  swapped_ = before >> 32 == flow_sent_;
  since_tsc_.store(now_, std::memory_order_relaxed);
  seen_.store(seen, std::memory_order_release);
}

void EndlessPort::measure(Mode mode, std::uint64_t now) {
  if (mode != mode_before_ || last_ == 0 || mode < Mode::without_changes) return;
  const std::uint64_t cycles = now - last_;
  rounds_[mode == Mode::with_changes ? 1 : 0].add(cycles);
  if (swapped_ && swaps_.size() < swaps_max) swaps_.push_back(static_cast<double>(cycles));
}

}  // namespace guideway::bench
