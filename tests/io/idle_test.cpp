// Idle: when a worker sleeps, and for how long.
#include "io/idle.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

using std::chrono::microseconds;

TEST(Idle, SleepsOnlyAfterManyEmptyPollsAndEverLongerUpToALimit) {
  Idle idle(Polling::adaptive);
  for (unsigned i = 1; i < Idle::polls_awake; ++i) ASSERT_EQ(idle.after(false), microseconds{0}) << i;
  const int expected[] = {20, 40, 80, 160, 200, 200};
  for (const int us : expected) EXPECT_EQ(idle.after(false), microseconds{us});
}

TEST(Idle, SleepsDeepAfterFiftyMillisecondsAndStaysThere) {
  Idle idle(Polling::adaptive);
  microseconds slept{0};
  for (microseconds now{0}; now != Idle::sleep_deep; slept += now) {
    ASSERT_LT(slept, microseconds{60'000});
    now = idle.after(false);
  }
  EXPECT_GE(slept, microseconds{50'000});
  for (unsigned i = 0; i < 4 * Idle::sleeps_light; ++i) ASSERT_EQ(idle.after(false), Idle::sleep_deep);
}

TEST(Idle, APacketStartsItAnew) {
  Idle idle(Polling::adaptive);
  for (unsigned i = 0; i < 4 * Idle::polls_awake; ++i) (void)idle.after(false);
  EXPECT_EQ(idle.after(true), microseconds{0});
  for (unsigned i = 1; i < Idle::polls_awake; ++i) ASSERT_EQ(idle.after(false), microseconds{0});
  EXPECT_EQ(idle.after(false), Idle::sleep_min);
}

TEST(Idle, BusyNeverSleeps) {
  Idle idle(Polling::busy);
  for (unsigned i = 0; i < 4 * Idle::polls_awake; ++i) ASSERT_EQ(idle.after(false), microseconds{0});
}

}  // namespace
}  // namespace guideway
