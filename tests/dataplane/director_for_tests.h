// A director for tests: two ports, one pool, TCP and UDP services of both families, and a pipeline over them.
// What: everything is public and can be changed between runs; after every run the counters are held against
//       each other (in = forwarded + kernel + answered + dropped + held; what backends and services got = forwarded)
//       and the pool of mbufs against leaks.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dataplane/pipeline.h"
#include "tests/eal_for_tests.h"
#include "tests/packets.h"

namespace guideway::testing {

struct Outcome {
  Verdict verdict = Verdict::count_;
  Bytes frame;  // what left or what the kernel sees; empty for a drop
  int port = -1;
  std::vector<Bytes> further;  // pieces behind the first
};

struct RunOptions {
  std::size_t segment = 2048;
  std::uint16_t headroom = RTE_PKTMBUF_HEADROOM;
  std::uint64_t flags = 0;      // of the mbufs
  std::uint32_t truncated = 0;  // as in Burst
  std::uint16_t port_takes = outbox_max;
};

class DirectorForTests {
 public:
  static constexpr std::uint8_t wan = 0, lan = 1;

  explicit DirectorForTests(Family outer = Family::ipv4, std::size_t flow_entries = 1024)
      : flows(flow_entries, 1),
        pipeline({ports, next_hops, counters, flows, Eal::get().mbufs(), {}}),
        mbufs_before_(Eal::get().in_use()) {
    ports.size = 2;
    ports.ports[wan].mac = port_mac;
    ports.ports[lan].mac = {0x02, 0, 0, 0, 0, 0x02};
    ports.ports[wan].mtu = ports.ports[lan].mtu = 9000;

    pool.name = "web";
    pool.seed = 0x5eed;
    pool.outer_source = address(outer == Family::ipv4 ? "10.0.0.2" : "fd00::2");
    for (unsigned i = 0; i < 4; ++i) {
      SnapshotBackend backend;
      backend.address = address((outer == Family::ipv4 ? "10.0.1." : "fd00:1::") + std::to_string(11 + i));
      backend.id = BackendId(i);
      backend.next_hop = next_hops.index_of(backend.address).value();
      next_hops.set(backend.next_hop, {NextHop::State::resolved, lan, backend_mac(i)});
      pool.backends.push_back(backend);
    }
    rules = {{address("203.0.113.10"), 32, net::protocol_tcp, {{80, 80}}, 0, false, 0},
             {address("203.0.113.10"), 32, net::protocol_udp, {{53, 53}}, 1, false, 0},
             {address("2001:db8:2::10"), 128, net::protocol_tcp, {{80, 80}}, 2, false, 0},
             {address("2001:db8:2::10"), 128, net::protocol_udp, {{53, 53}}, 3, false, 0}};
  }

  ~DirectorForTests() {
    pipeline.finish();
    EXPECT_EQ(Eal::get().in_use(), mbufs_before_) << "mbufs leaked";
  }

  static MacAddress backend_mac(unsigned i) { return {0x02, 0, 0, 0, 1, static_cast<std::uint8_t>(i)}; }

  // A poll that brings nothing: what is held may expire or be found with another worker.
  void poll() {
    const auto present = snapshot();
    while (pipeline.readmit(burst, now_ms)) settle(*present, {});
    expect_balance();
  }
  [[nodiscard]] std::size_t packets() const { return outcomes_.size(); }
  // What has become of the n-th packet of all runs by now.
  [[nodiscard]] const Outcome& outcome(std::size_t n) const { return outcomes_.at(n); }

  // The snapshot of the pools and `rules` as they stand.
  std::shared_ptr<const Snapshot> snapshot() const {
    auto out = std::make_shared<Snapshot>();
    auto first = std::make_shared<SnapshotPool>(pool);
    first->rows = RowTable(rows);
    out->add_pool(std::move(first));
    for (const SnapshotPool& further : further_pools)
      out->add_pool(std::make_shared<const SnapshotPool>(further));
    for (std::size_t i = 0; i < rules.size(); ++i)
      out->services.push_back({"service", ServiceId(i), out->pools[rules[i].pool].get()});
    out->lookup = ServiceTable::build(rules);
    return out;
  }

  std::vector<Outcome> run(const std::vector<Bytes>& frames, const RunOptions& options = {}) {
    const auto present = snapshot();
    const auto first = static_cast<std::ptrdiff_t>(outcomes_.size());
    for (std::size_t at = 0; at < frames.size(); at += burst_max) run_burst(*present, frames, at, options);
    expect_balance();
    return {outcomes_.begin() + first, outcomes_.end()};
  }
  Outcome run(const Bytes& frame, const RunOptions& options = {}) {
    return run(std::vector<Bytes>{frame}, options).at(0);
  }

  [[nodiscard]] std::uint64_t count(Verdict verdict) const {
    return counters.verdicts.packets[static_cast<std::size_t>(verdict)].get();
  }

  void expect_balance() const {
    std::uint64_t packets = 0, bytes = 0;
    for (std::size_t i = 0; i < verdict_count; ++i) {
      packets += counters.verdicts.packets[i].get();
      bytes += counters.verdicts.bytes[i].get();
    }
    EXPECT_EQ(packets, counters.verdicts.packets_in.get());
    EXPECT_EQ(bytes, counters.verdicts.bytes_in.get());
    EXPECT_EQ(of_backends(&BackendCounters::packets), count(Verdict::forward));
    EXPECT_EQ(of_services(&ServiceCounters::packets), count(Verdict::forward));
    EXPECT_EQ(of_backends(&BackendCounters::bytes), of_services(&ServiceCounters::bytes));
    EXPECT_EQ(of_backends(&BackendCounters::new_flows), of_services(&ServiceCounters::new_flows));
  }

  // Sums over all ids that the tests use.
  [[nodiscard]] std::uint64_t of_backends(Counter BackendCounters::*counter) const {
    std::uint64_t sum = 0;
    for (std::uint32_t id = 0; id < ids; ++id) sum += (counters.backend(BackendId(id)).*counter).get();
    return sum;
  }
  [[nodiscard]] std::uint64_t of_services(Counter ServiceCounters::*counter) const {
    std::uint64_t sum = 0;
    for (std::uint32_t id = 0; id < ids; ++id) sum += (counters.service(ServiceId(id)).*counter).get();
    return sum;
  }

  PortTable ports;
  NextHops next_hops;
  WorkerCounters counters;
  FlowState flows;
  SnapshotPool pool;  // without its rows
  std::vector<Row> rows = std::vector<Row>(251, Row{{0, 1, 2}, 1});
  std::vector<SnapshotPool> further_pools;  // 1, 2, ... for ServiceRule::pool
  std::vector<ServiceRule> rules;
  std::uint32_t now_ms = 1000;
  Pipeline pipeline;
  Burst burst;  // as the last run left it

 private:
  static constexpr std::uint32_t ids = 128;

  void run_burst(const Snapshot& present, const std::vector<Bytes>& frames, std::size_t at,
                 const RunOptions& options) {
    burst.size = static_cast<std::uint16_t>(std::min(burst_max, frames.size() - at));
    burst.port = wan;
    burst.truncated = options.truncated;
    for (std::size_t i = 0; i < burst.size; ++i) {
      burst.packets[i] = Eal::get().make(frames[at + i], options.segment, options.headroom);
      burst.packets[i]->ol_flags |= options.flags;
      burst.packets[i]->hash.usr = static_cast<std::uint32_t>(outcomes_.size());
      outcomes_.emplace_back();
    }
    settle(present, options);
    while (pipeline.readmit(burst, now_ms)) settle(present, options);
  }

  // Runs the burst; each packet's outcome has the place that its mbuf names.
  void settle(const Snapshot& present, const RunOptions& options) {
    std::array<std::size_t, burst_max> places{};
    for (std::size_t i = 0; i < burst.size; ++i) places[i] = burst.packets[i]->hash.usr;
    pipeline.run(burst, present, now_ms, *outputs_);
    for (std::size_t i = 0; i < burst.size; ++i) outcomes_.at(places[i]) = {burst.verdict[i], {}, -1, {}};
    for (std::size_t p = 0; p < ports_max; ++p) {
      collect(outputs_->port[p], p, places, options.port_takes, Verdict::drop_tx_full);
      collect(outputs_->kernel[p], p, places, options.port_takes, Verdict::drop_kernel_full);
    }
    Pipeline::done(*outputs_);
  }

  void collect(Outbox& box, std::size_t port, const std::array<std::size_t, burst_max>& places,
               std::uint16_t takes, Verdict otherwise) {
    const std::uint16_t taken = std::min(takes, box.size);
    for (std::size_t i = 0; i < box.size; ++i) {
      Outcome& outcome = outcomes_.at(places[box.origin[i]]);
      const bool further = i > 0 && box.origin[i - 1] == box.origin[i];
      const bool sent_on = outcome.verdict == Verdict::forward || outcome.verdict == Verdict::answer;
      EXPECT_TRUE(further ||
                  (otherwise == Verdict::drop_kernel_full ? outcome.verdict == Verdict::kernel : sent_on));
      EXPECT_EQ(rte_mbuf_check(box.frames[i], 1, &mbuf_fault_), 0) << mbuf_fault_;
      if (i >= taken) {
        outcome.verdict = otherwise;
        continue;
      }
      (further ? outcome.further.emplace_back() : outcome.frame) = Eal::bytes(box.frames[i]);
      outcome.port = static_cast<int>(port);
      EXPECT_EQ(box.frames[i]->ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK, 0U);
      rte_pktmbuf_free(box.frames[i]);
    }
    pipeline.sent(box, taken, otherwise);
  }

  std::vector<Outcome> outcomes_;  // of all packets of all runs
  const char* mbuf_fault_ = nullptr;
  std::unique_ptr<Outputs> outputs_ = std::make_unique<Outputs>();
  unsigned mbufs_before_;
};

}  // namespace guideway::testing
