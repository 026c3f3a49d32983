// Forwarding: real packets through two ring ports and the workers' poll loops.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "forwarding_director.h"
#include "running_eal.h"
#include "tests/dataplane/fragments_for_tests.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;
namespace packets = guideway::testing;

// A director of two ring ports, `in` and `out`; the test holds the rings' other ends.
class Forwarding : public ::testing::TestWithParam<std::uint16_t> {
 protected:
  void SetUp() override {
    if (!eal_runs()) GTEST_SKIP() << "skipped: the EAL does not start here";
    static int number = 0;
    const std::string suffix = std::to_string(number++);
    in_ = "in" + suffix;
    out_ = "out" + suffix;
    config_.workers = eal_workers();
    config_.flow_table_entries = 1024;
    for (const auto& name : {in_, out_}) {
      PortConfig port;
      port.name = name;
      port.device = "ring:" + name;
      port.queues = GetParam();
      config_.ports.push_back(port);
    }
    auto opened = ForwardingDirector::open(config_);
    ASSERT_TRUE(opened) << opened.error().text();
    director_ = std::move(*opened);
  }

  // Offers a frame to one of the ingress port's queues; false: the ring is full.
  bool offer(const std::vector<std::uint8_t>& frame, unsigned queue) {
    rte_ring* ring = rte_ring_lookup(fmt::format("{}_rx{}", in_, queue).c_str());
    rte_mbuf* mbuf = rte_pktmbuf_alloc(director_->ports().pool());
    if (ring == nullptr || mbuf == nullptr) return false;
    std::memcpy(rte_pktmbuf_append(mbuf, static_cast<std::uint16_t>(frame.size())), frame.data(),
                frame.size());
    if (rte_ring_enqueue(ring, mbuf) == 0) return true;
    rte_pktmbuf_free(mbuf);
    return false;
  }

  // What left by the egress port since the last call.
  std::vector<std::vector<std::uint8_t>> taken() {
    std::vector<std::vector<std::uint8_t>> out;
    for (unsigned queue = 0; queue < GetParam(); ++queue) {
      rte_ring* ring = rte_ring_lookup(fmt::format("{}_tx{}", out_, queue).c_str());
      void* frame = nullptr;
      while (rte_ring_dequeue(ring, &frame) == 0) {
        auto* mbuf = static_cast<rte_mbuf*>(frame);
        const auto* bytes = rte_pktmbuf_mtod(mbuf, const std::uint8_t*);
        out.emplace_back(bytes, bytes + mbuf->data_len);
        rte_pktmbuf_free(mbuf);
      }
    }
    return out;
  }

  std::vector<std::vector<std::uint8_t>> wait_for(std::size_t count) {
    std::vector<std::vector<std::uint8_t>> out;
    for (const auto end = std::chrono::steady_clock::now() + 10s;
         out.size() < count && std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(200us))
      for (auto& frame : taken()) out.push_back(std::move(frame));
    return out;
  }

  std::string in_, out_;
  DirectorConfig config_;
  std::unique_ptr<ForwardingDirector> director_;
};

TEST_P(Forwarding, ASynLeavesWrappedForItsBackend) {
  ASSERT_TRUE(director_->workers().start());
  const auto frame = syn(director_->mac(), 40000);
  ASSERT_TRUE(offer(frame, 0));
  const auto left = wait_for(1);
  ASSERT_EQ(left.size(), 1U);
  const auto& out = left.front();
  constexpr std::size_t outer = 14 + 20 + 8 + 8;  // a row with one hop: no hop list
  ASSERT_EQ(out.size(), outer + 40);
  EXPECT_TRUE(std::equal(backend_mac.begin(), backend_mac.end(), out.begin()));
  EXPECT_TRUE(std::equal(director_address.begin(), director_address.end(), out.begin() + 26));
  EXPECT_TRUE(std::equal(backend_address.begin(), backend_address.end(), out.begin() + 30));
  EXPECT_TRUE(std::equal(frame.begin() + 14, frame.end(), out.begin() + outer)) << "the inner packet changed";
  director_->workers().stop();
  EXPECT_EQ(director_->counted(Verdict::forward), 1U);
}

TEST_P(Forwarding, AThousandSnapshotsUnderTrafficLoseNothingAndAreFreed) {
  ASSERT_TRUE(director_->workers().start());
  constexpr std::size_t packets = 20'000;
  std::size_t offered = 0, left = 0;
  std::uint64_t epoch = 1;
  std::size_t waiting_max = 0;
  std::weak_ptr<const Snapshot> last;
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (left < packets && std::chrono::steady_clock::now() < end) {
    // No more under way than the rings hold: what is lost then was lost by a change.
    for (int i = 0; i < 20 && offered < packets && offered - left < 500; ++i) {
      const auto queue = static_cast<unsigned>(offered % GetParam());
      if (!offer(syn(director_->mac(), static_cast<std::uint16_t>(1024 + offered)), queue)) break;
      ++offered;
    }
    if (epoch <= 1000) {
      auto snapshot = one_backend(director_->next_hop(), ++epoch);
      last = snapshot;
      director_->publisher().publish(std::move(snapshot));
      waiting_max = std::max(waiting_max, director_->publisher().reclaim());
    }
    left += taken().size();
    std::this_thread::sleep_for(20us);
  }
  EXPECT_EQ(epoch, 1001U);
  EXPECT_EQ(left, packets);
  director_->workers().stop();
  EXPECT_EQ(director_->packets_in(), packets);
  EXPECT_EQ(director_->counted(Verdict::forward), packets);
  EXPECT_EQ(director_->publisher().reclaim(), 0U);
  EXPECT_FALSE(last.expired());
  RecordProperty("snapshots_waiting_max", static_cast<int>(waiting_max));
}

TEST_P(Forwarding, WhatTheEgressDoesNotTakeIsFreedAndCounted) {
  ASSERT_TRUE(director_->workers().start());
  constexpr std::size_t packets = 6000;  // more than the egress rings and the handoff hold together
  std::size_t offered = 0;
  for (const auto end = std::chrono::steady_clock::now() + 20s;
       offered < packets && std::chrono::steady_clock::now() < end;) {
    const auto queue = static_cast<unsigned>(offered % GetParam());
    if (offer(syn(director_->mac(), static_cast<std::uint16_t>(offered)), queue))
      ++offered;
    else
      std::this_thread::sleep_for(100us);
  }
  ASSERT_EQ(offered, packets);
  for (const auto end = std::chrono::steady_clock::now() + 10s;
       director_->packets_in() < packets && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(1ms);
  EXPECT_GT(director_->counted(Verdict::drop_tx_full), 0U);
  EXPECT_EQ(director_->counted(Verdict::forward) + director_->counted(Verdict::drop_tx_full), packets);
  EXPECT_EQ(wait_for(director_->counted(Verdict::forward)).size(), director_->counted(Verdict::forward))
      << "what counts as forwarded leaves once there is room";
}

// In = forwarded + dropped, and what counts as forwarded left or was left behind.
TEST_P(Forwarding, WhatNoQueueTakesUntilTheEndIsCounted) {
  ASSERT_TRUE(director_->workers().start());
  constexpr std::size_t packets = 6000;
  std::size_t offered = 0;
  for (const auto end = std::chrono::steady_clock::now() + 20s;
       offered < packets && std::chrono::steady_clock::now() < end;) {
    const auto queue = static_cast<unsigned>(offered % GetParam());
    if (offer(syn(director_->mac(), static_cast<std::uint16_t>(offered)), queue))
      ++offered;
    else
      std::this_thread::sleep_for(100us);
  }
  for (const auto end = std::chrono::steady_clock::now() + 10s;
       director_->packets_in() < packets && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(1ms);
  director_->workers().stop();
  EXPECT_EQ(director_->packets_in(), packets);
  EXPECT_EQ(director_->all_verdicts(), packets);
  const auto left_behind = director_->sum(&VerdictCounters::left_behind);
  // With a queue for each worker none hands anything over. Else the ring holds about a thousand, or what is left of them
  // when the workers end, which depends on who ran when.
  if (GetParam() == config_.workers.size()) {
    EXPECT_EQ(left_behind, 0U);
  }
  EXPECT_EQ(taken().size(), director_->counted(Verdict::forward) - left_behind);
}

TEST_P(Forwarding, AFrameForAnotherMacIsDropped) {
  ASSERT_TRUE(director_->workers().start());
  ASSERT_TRUE(offer(syn({2, 9, 9, 9, 9, 9}, 1), 0));
  for (const auto end = std::chrono::steady_clock::now() + 10s;
       director_->packets_in() < 1 && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(1ms);
  director_->workers().stop();
  EXPECT_EQ(director_->counted(Verdict::drop_other_mac), 1U);
}

// One service over two backends, of which the first has the rows, or the second.
std::shared_ptr<const Snapshot> two_backends(NextHopIndex next_hop, MemberIndex owner) {
  auto out = std::make_shared<Snapshot>(*one_backend(next_hop, 1));
  auto pool = std::make_shared<SnapshotPool>(*out->pools[0]);
  pool->backends.push_back({ipv4({10, 0, 1, 12}), BackendId{2}, next_hop});
  pool->rows = RowTable(std::vector<Row>(251, Row{{owner, no_member, no_member}, 1}));
  out->services[0].pool = pool.get();
  out->backends = {{}, {pool.get(), 0}, {pool.get(), 1}};
  out->pools[0] = std::move(pool);
  return out;
}

// The last byte of the outer destination.
std::vector<int> backends_of(const std::vector<std::vector<std::uint8_t>>& frames) {
  std::vector<int> out;
  for (const auto& frame : frames) out.push_back(frame[33]);
  return out;
}

// RSS spreads a flow by its ports; its fragments and the errors about it have none, and may come to the other worker.
TEST_P(Forwarding, WhatComesToTheOtherWorkerGoesWhereItsFlowGoes) {
  const auto last = static_cast<unsigned>(GetParam() - 1);
  const packets::Link link{.destination = director_->mac()};
  packets::Ip header;
  const packets::Bytes segment = packets::tcp({.payload = packets::Bytes(600)});
  const auto fragments_of = [&](std::uint16_t id) {
    header.id = id;
    return std::vector{packets::frame(packets::fragment(header, segment, 0, 400), link),
                       packets::frame(packets::fragment(header, segment, 400, segment.size()), link)};
  };
  director_->publisher().publish(two_backends(director_->next_hop(), 0));
  ASSERT_TRUE(director_->workers().start());
  ASSERT_TRUE(offer(syn(director_->mac(), 40000), 0));
  ASSERT_EQ(backends_of(wait_for(1)), std::vector{11});
  director_->publisher().publish(two_backends(director_->next_hop(), 1));
  ASSERT_TRUE(offer(syn(director_->mac(), 40001), last));
  ASSERT_EQ(backends_of(wait_for(1)), std::vector{12}) << "the rows have moved";

  packets::Ip from_service = header, to_service = header;
  std::swap(from_service.source, from_service.destination);
  packets::Bytes error = packets::from_hex("0304 0000 0000 0500");
  packets::append(error,
                  packets::ip(from_service, packets::tcp({.source_port = 80, .destination_port = 40000})));
  net::store(error.data() + 2, net::ChecksumSum{}.add(error).checksum());
  to_service.protocol = net::protocol_icmp;
  ASSERT_TRUE(offer(packets::frame(packets::ip(to_service, error), link), last));
  EXPECT_EQ(backends_of(wait_for(1)), std::vector{11}) << "an error about the flow";

  const auto in_order = fragments_of(7);
  ASSERT_TRUE(offer(in_order[0], last));
  EXPECT_EQ(backends_of(wait_for(1)), std::vector{11}) << "a first fragment of the flow";
  ASSERT_TRUE(offer(in_order[1], 0));
  EXPECT_EQ(backends_of(wait_for(1)), std::vector{11}) << "the later one, elsewhere";

  const auto swapped = fragments_of(8);
  ASSERT_TRUE(offer(swapped[1], 0));
  for (const auto end = std::chrono::steady_clock::now() + 10s;
       director_->counted(Verdict::held) < 1 && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(offer(swapped[0], last));
  EXPECT_EQ(backends_of(wait_for(2)), (std::vector{11, 11})) << "a later one that came early";
  director_->workers().stop();
  EXPECT_EQ(director_->counted(Verdict::forward), 7U);
  EXPECT_EQ(director_->all_verdicts(), director_->packets_in());
}

TEST_P(Forwarding, EveryWorkerPurgesItsOwnTable) {
  ASSERT_TRUE(director_->workers().start());
  constexpr std::uint16_t flows = 200;
  for (std::uint16_t flow = 0; flow < flows; ++flow)
    ASSERT_TRUE(offer(syn(director_->mac(), static_cast<std::uint16_t>(1024 + flow)), flow % GetParam()));
  ASSERT_EQ(wait_for(flows).size(), flows);
  Workers& workers = director_->workers();
  const auto purged = [&](const FlowPurgeOrder& order) {
    std::uint64_t removed = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) workers.purge(i).ask(order);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      while (!workers.purge(i).idle()) std::this_thread::sleep_for(100us);
      removed += workers.purge(i).removed();
    }
    return removed;
  };
  EXPECT_EQ(purged({BackendId{2}, std::nullopt}), 0U) << "of another backend";
  EXPECT_EQ(purged({BackendId{1}, std::nullopt}), flows);
  EXPECT_EQ(purged({BackendId{1}, std::nullopt}), 0U);
  workers.stop();
}

// One queue for two workers (those without one send through the owner), and a queue each.
INSTANTIATE_TEST_SUITE_P(Queues, Forwarding, ::testing::Values(std::uint16_t{1}, std::uint16_t{2}),
                         [](const auto& one) { return fmt::format("queues{}", one.param); });

}  // namespace
}  // namespace guideway
