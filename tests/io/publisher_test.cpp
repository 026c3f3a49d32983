// QSBR publisher: an old snapshot lives while a worker may read it, and no longer.
#include "io/publisher.h"

#include <gtest/gtest.h>

#include <thread>

namespace guideway {
namespace {

std::shared_ptr<const Snapshot> version(std::uint64_t epoch) {
  auto out = std::make_shared<Snapshot>();
  out->epoch = Epoch{epoch};
  return out;
}

TEST(QsbrPublisher, AWorkerThatIsOnlineKeepsTheOldSnapshotUntilItIsQuiescent) {
  QsbrPublisher publisher(2);
  publisher.publish(version(1));
  publisher.join(0);
  const std::weak_ptr<const Snapshot> second = [&] {
    auto made = version(2);
    publisher.publish(made);
    return std::weak_ptr<const Snapshot>(made);
  }();
  publisher.quiescent(0);
  EXPECT_EQ(publisher.reclaim(), 0U);  // version 1
  ASSERT_EQ(publisher.current()->epoch, Epoch{2});
  publisher.publish(version(3));
  EXPECT_EQ(publisher.reclaim(), 1U);
  EXPECT_FALSE(second.expired()) << "freed under a worker";
  publisher.quiescent(0);
  EXPECT_EQ(publisher.reclaim(), 0U);
  EXPECT_TRUE(second.expired());
  publisher.leave(0);
}

TEST(QsbrPublisher, ASleepingWorkerHoldsNothingUp) {
  QsbrPublisher publisher(1);
  publisher.publish(version(1));
  publisher.join(0);
  publisher.offline(0);
  publisher.publish(version(2));
  EXPECT_EQ(publisher.reclaim(), 0U);
  publisher.online(0);
  EXPECT_EQ(publisher.current()->epoch, Epoch{2});
  publisher.leave(0);
}

TEST(QsbrPublisher, WorkersThatNeverJoinedOrHaveLeftHoldNothingUp) {
  QsbrPublisher publisher(4);
  publisher.join(2);
  publisher.leave(2);
  for (std::uint64_t epoch = 1; epoch <= 100; ++epoch) publisher.publish(version(epoch));
  EXPECT_EQ(publisher.reclaim(), 0U);
}

// A snapshot's destructor spoils its epoch, so that a worker that reads a freed one sees it (and sanitizers do).
TEST(QsbrPublisher, ManyChangesUnderReadingWorkersFreeEverythingAndNothingTooEarly) {
  constexpr unsigned workers = 2;
  constexpr std::uint64_t changes = 1000;
  std::atomic<std::uint64_t> freed{0}, spoiled{0};
  QsbrPublisher publisher(workers);  // frees its last snapshot at its own end, which is counted
  const auto made = [&](std::uint64_t epoch) {
    return std::shared_ptr<const Snapshot>(
        new Snapshot{.epoch = Epoch{epoch}}, [&](const Snapshot* snapshot) {
          const_cast<Snapshot*>(snapshot)->epoch = Epoch{~std::uint64_t{0}};
          freed.fetch_add(1);
          delete snapshot;
        });
  };
  publisher.publish(made(1));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&, worker] {
      publisher.join(worker);
      std::uint64_t last = 0;
      for (unsigned round = 0; !stop.load(std::memory_order_relaxed); ++round) {
        const Snapshot* snapshot = publisher.current();
        for (int i = 0; i < 8; ++i) {
          const auto epoch = static_cast<std::uint64_t>(snapshot->epoch);
          if (epoch < last || epoch > changes) spoiled.fetch_add(1);
          last = epoch;
        }
        publisher.quiescent(worker);
        if (round % 64 == 0) {
          publisher.offline(worker);
          std::this_thread::yield();
          publisher.online(worker);
        }
      }
      publisher.leave(worker);
    });
  }
  for (std::uint64_t epoch = 2; epoch <= changes; ++epoch) {
    publisher.publish(made(epoch));
    (void)publisher.reclaim();
    if (epoch % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(publisher.reclaim(), 0U);
  EXPECT_EQ(spoiled.load(), 0U);
  EXPECT_EQ(freed.load(), changes - 1) << "all but the present one";
}

}  // namespace
}  // namespace guideway
