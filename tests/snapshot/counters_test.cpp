#include <gtest/gtest.h>

#include "snapshot/counters.h"

namespace guideway {
namespace {

TEST(Counters, EveryIdHasItsOwn) {
  WorkerCounters counters;
  const BackendId first{0}, last{backend_ids_max - 1};
  counters.backend(first).packets.add(2);
  counters.backend(last).packets.add(3);
  counters.backend(last).packets.add(4);
  EXPECT_EQ(counters.backend(first).packets.get(), 2U);
  EXPECT_EQ(counters.backend(last).packets.get(), 7U);
  EXPECT_EQ(counters.backend(last).bytes.get(), 0U);
  EXPECT_EQ(counters.service(ServiceId{service_ids_max - 1}).packets.get(), 0U);
}

TEST(Verdict, EachHasOneName) {
  for (std::size_t a = 0; a < verdict_count; ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(verdict_names[a], verdict_names[b]);
}

}  // namespace
}  // namespace guideway
