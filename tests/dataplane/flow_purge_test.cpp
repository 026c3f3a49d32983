// Flow purge: what a worker takes out of its table on an order, and what a reader elsewhere sees of it.
#include "dataplane/flow_purge.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace guideway {
namespace {

constexpr std::uint32_t minute_ms = 60'000;

// A table nearly as full as its nominal size, over backends 0, 1 and 2: flow -> backend.
std::map<std::uint64_t, std::uint32_t> fill(FlowTable& table, std::size_t flows) {
  std::map<std::uint64_t, std::uint32_t> out;
  std::mt19937_64 random(7);
  while (out.size() < flows) {
    const std::uint64_t hash = random();
    const auto backend = static_cast<std::uint32_t>(hash % 3);
    if (table.insert(hash, BackendId(backend), FlowClass::established, 0, minute_ms) ==
        FlowTable::Inserted::created)
      out.emplace(hash, backend);
  }
  return out;
}

// Rounds until the order is done.
std::size_t rounds_of(FlowPurge& purge, FlowTable& table) {
  std::size_t rounds = 0;
  while (purge.work(table, 0, [](BackendId) {})) ++rounds;
  return rounds;
}

TEST(FlowPurge, OfABackendLeavesTheOthersAlone) {
  FlowTable table(1 << 14);
  const auto flows = fill(table, 15'000);
  FlowPurge purge;
  EXPECT_FALSE(purge.work(table, 0, [](BackendId) {})) << "nothing was ordered";
  purge.ask({BackendId(1), std::nullopt});
  EXPECT_FALSE(purge.idle());
  std::set<BackendId> forgotten;
  std::size_t rounds = 0;
  while (purge.work(table, 0, [&](BackendId backend) { forgotten.insert(backend); })) ++rounds;
  EXPECT_EQ(rounds, table.buckets() / FlowPurge::buckets_a_round) << "a few buckets a round";
  EXPECT_EQ(forgotten, std::set{BackendId(1)}) << "its flows go on and are in no table";
  EXPECT_TRUE(purge.idle());
  std::size_t gone = 0;
  for (const auto& [hash, backend] : flows) {
    EXPECT_EQ(table.find(hash, 0), backend == 1 ? no_backend : BackendId(backend));
    gone += backend == 1 ? 1 : 0;
  }
  EXPECT_EQ(purge.removed(), gone);
  purge.ask({BackendId(1), std::nullopt});
  rounds_of(purge, table);
  EXPECT_EQ(purge.removed(), 0U) << "each order counts its own";
}

TEST(FlowPurge, OfOneFlow) {
  FlowTable table(1024);
  const auto flows = fill(table, 900);
  FlowPurge purge;
  const std::uint64_t wanted = flows.begin()->first;
  purge.ask({no_backend, wanted});
  EXPECT_EQ(rounds_of(purge, table), 1U);
  EXPECT_EQ(purge.removed(), 1U);
  for (const auto& [hash, backend] : flows)
    EXPECT_EQ(table.find(hash, 0), hash == wanted ? no_backend : BackendId(backend));
  purge.ask({no_backend, wanted});
  rounds_of(purge, table);
  EXPECT_EQ(purge.removed(), 0U);
}

TEST(FlowPurge, CountsNoEntryThatHasEndedAnyway) {
  FlowTable table(64);
  table.insert(1ULL << 40, BackendId(1), FlowClass::fresh, 0, 1000);
  table.insert(2ULL << 40, BackendId(1), FlowClass::established, 0, minute_ms);
  FlowPurge purge;
  purge.ask({BackendId(1), std::nullopt});
  while (purge.work(table, 5000, [](BackendId) {})) {
  }
  EXPECT_EQ(purge.removed(), 1U);
}

// What was spilled into the other bucket of a pair is still found once its neighbours were taken out.
TEST(FlowPurge, KeepsTheCountOfSpilledEntries) {
  FlowTable table(64);
  for (std::uint64_t n = 1; n <= 2 * bucket_slots; ++n)  // all at home in bucket 0
    table.insert(n << 40, BackendId(static_cast<std::uint32_t>(n % 2)), FlowClass::established, 0, minute_ms);
  FlowPurge purge;
  purge.ask({BackendId(0), std::nullopt});
  rounds_of(purge, table);
  for (std::uint64_t n = 1; n <= 2 * bucket_slots; ++n)
    EXPECT_EQ(static_cast<bool>(table.find_entry(n << 40, 0)), n % 2 == 1) << n;
}

TEST(FlowPurge, ByAWorkerThatGoesOnWithItsTable) {
  FlowTable table(1 << 12);
  FlowPurge purge;
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    std::uint64_t hash = 1;
    while (!stop.load(std::memory_order_relaxed)) {
      hash = hash * 6364136223846793005ULL + 1442695040888963407ULL;
      table.insert(hash, BackendId(static_cast<std::uint32_t>(hash >> 33) % 2), FlowClass::established, 0,
                   minute_ms);
      purge.work(table, 0, [](BackendId) {});
    }
  });
  std::uint64_t removed = 0;
  for (int order = 0; order < 200; ++order) {
    purge.ask({BackendId(static_cast<std::uint32_t>(order % 2)), std::nullopt});
    while (!purge.idle()) std::this_thread::yield();
    removed += purge.removed();
  }
  stop.store(true, std::memory_order_relaxed);
  worker.join();
  EXPECT_GT(removed, 0U);
}

TEST(FlowSight, TellsClassBackendAndTimeLeft) {
  FlowTable table(64);
  constexpr std::uint32_t now = 5'000'000;
  table.insert(9ULL << 40, BackendId(4), FlowClass::fresh, now, 10'000);
  const auto sight = table.look_at(9ULL << 40, now + 4000);
  ASSERT_TRUE(sight);
  EXPECT_EQ(sight->backend, BackendId(4));
  EXPECT_EQ(sight->flow_class, FlowClass::fresh);
  EXPECT_NEAR(sight->left_ms, 6000, 32);
  EXPECT_FALSE(table.look_at(9ULL << 40, now + 11'000)) << "it has ended";
  EXPECT_FALSE(table.look_at(8ULL << 40, now));
}

TEST(FlowSight, OfTheWholeTableIsEveryLiveEntryOnce) {
  FlowTable table(1 << 12);
  const auto flows = fill(table, 4000);
  table.insert(1, BackendId(9), FlowClass::fresh, 0, 100);
  std::map<BackendId, std::size_t> seen, expected;
  table.for_each(1000, [&](const FlowTable::Sight& sight) { ++seen[sight.backend]; });
  for (const auto& [hash, backend] : flows) ++expected[BackendId(backend)];
  EXPECT_EQ(seen, expected) << "and none that has ended";
}

}  // namespace
}  // namespace guideway
