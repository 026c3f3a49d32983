// The delta of two sites: what it gives, written down and read again, is the other site.
#include "state/site_delta.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sites.h"
#include "state/change.h"
#include "state/change_record.h"

namespace guideway {
namespace {

Site through_text(const Site& before, const SiteDelta& delta) {
  const auto record = parse_record(record_text({Epoch{7}, {}, delta}), "a record");
  EXPECT_TRUE(record) << record.error().text();
  return with(before, record->delta);
}

TEST(SiteDelta, GivesTheOtherSite) {
  EXPECT_TRUE(rc::check("of sites that share some objects", [] {
    const Site before = sites::any_valid();
    Site after = sites::any_valid();
    for (std::size_t i = 0; i < before.pools.size(); ++i)
      if (*rc::gen::arbitrary<bool>() && after.find_pool(before.pools[i].name) == nullptr)
        after.pools.push_back(before.pools.share(i));
    const auto delta = delta_of(before, after);
    if (delta) RC_ASSERT(through_text(before, *delta) == after);
  }));
}

TEST(SiteDelta, OfADrainIsOnePool) {
  Site before = sites::site(3);
  for (int i = 0; i < 100; ++i) {
    Pool other = sites::pool(2);
    other.name = fmt::format("other-{}", i);
    before.pools.push_back(other);
  }
  const Site after = *applied(before, SetBackendState{"web", "web-2", BackendState::draining});
  const auto delta = delta_of(before, after);
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->changed.pools.size(), 1U);
  EXPECT_TRUE(delta->changed.services.empty());
  EXPECT_TRUE(delta->pools_gone.empty());
  EXPECT_EQ(through_text(before, *delta), after);
}

TEST(SiteDelta, AnotherOrderHasNone) {
  Site before = sites::site(3), after = before;
  Pool other = sites::pool(2);
  other.name = "api";
  before.pools.push_back(other);
  after.pools = {other, sites::pool(3)};
  EXPECT_FALSE(delta_of(before, after));
}

}  // namespace
}  // namespace guideway
