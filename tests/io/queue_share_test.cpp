// Queue share: every queue has one owner, and every worker a queue to send on.
#include "io/queue_share.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

TEST(QueueShare, EveryQueueHasOneOwnerAndEveryWorkerAWayOut) {
  for (std::size_t queues = 1; queues <= 8; ++queues)
    for (std::size_t workers = 1; workers <= 8; ++workers)
      for (std::size_t shift = 0; shift < 4; ++shift) {
        const QueueShare share(queues, workers, shift);
        std::size_t owned = 0;
        for (std::size_t worker = 0; worker < workers; ++worker) {
          for (const auto queue : share.owned(worker)) EXPECT_EQ(share.owner(queue), worker);
          owned += share.owned(worker).size();
          ASSERT_LT(share.sends_on(worker), queues);
          if (!share.owned(worker).empty()) {
            EXPECT_EQ(share.owner(share.sends_on(worker)), worker);
          }
        }
        EXPECT_EQ(owned, queues);
      }
}

TEST(QueueShare, AsManyQueuesAsWorkersAreNotShifted) {
  const QueueShare share(2, 2, 1);
  EXPECT_EQ(share.owned(0), std::vector<std::size_t>{0});
  EXPECT_EQ(share.owned(1), std::vector<std::size_t>{1});
}

TEST(QueueShare, SingleQueuesOfTwoPortsGoToTwoWorkers) {
  EXPECT_EQ(QueueShare(1, 2, 0).owner(0), 0U);
  EXPECT_EQ(QueueShare(1, 2, 1).owner(0), 1U);
}

}  // namespace
}  // namespace guideway
