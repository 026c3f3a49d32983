// Backend ids: unique, kept while the backend stays, and rested before they come back.
#include "state/backend_ids.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "sites.h"
#include "state/service_ids.h"

namespace guideway {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr milliseconds rest = minutes(15);

BackendIdentity who(const std::string& name, const char* address = "10.0.0.1") {
  return {"web", name, sites::ip(address)};
}

TEST(BackendIds, StayWhileTheBackendStays) {
  BackendIds ids;
  ASSERT_TRUE(ids.assign({who("a"), who("b")}, seconds(0), rest));
  const auto b = ids.find(who("b"));
  ASSERT_TRUE(ids.assign({who("b"), who("c")}, seconds(1), rest));
  EXPECT_EQ(ids.find(who("b")), b);
  EXPECT_EQ(ids.find(who("a")), std::nullopt);
}

TEST(BackendIds, ANameThatComesBackIsANewMember) {
  BackendIds ids;
  ASSERT_TRUE(ids.assign({who("a")}, seconds(0), rest));
  const auto first = ids.find(who("a"));
  ASSERT_TRUE(ids.assign({}, seconds(1), rest));
  ASSERT_TRUE(ids.assign({who("a")}, seconds(2), rest));
  EXPECT_NE(ids.find(who("a")), first);
}

TEST(BackendIds, AnotherAddressIsAnotherServer) {
  BackendIds ids;
  ASSERT_TRUE(ids.assign({who("a", "10.0.0.1")}, seconds(0), rest));
  const auto first = ids.find(who("a", "10.0.0.1"));
  ASSERT_TRUE(ids.assign({who("a", "10.0.0.2")}, seconds(1), rest));
  EXPECT_NE(ids.find(who("a", "10.0.0.2")), first);
}

TEST(BackendIds, ARefusalChangesNothing) {
  BackendIds ids(2);
  ASSERT_TRUE(ids.assign({who("a"), who("b")}, seconds(0), rest));
  ASSERT_TRUE(ids.assign({who("a")}, seconds(1), rest));
  const auto refused = ids.assign({who("a"), who("c")}, seconds(2), rest);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("1 more rest"), std::string::npos) << refused.error().text();
  EXPECT_TRUE(ids.find(who("a")));
  EXPECT_TRUE(ids.assign({who("a"), who("c")}, seconds(1) + rest + seconds(3), rest));
}

TEST(BackendIds, ALongerTimeoutCountsForIdsThatRestAlready) {
  BackendIds ids(1);
  ASSERT_TRUE(ids.assign({who("a")}, seconds(0), seconds(60)));
  ASSERT_TRUE(ids.assign({}, seconds(1), seconds(3600)));
  EXPECT_FALSE(ids.assign({who("b")}, seconds(120), seconds(60)));
  EXPECT_TRUE(ids.assign({who("b")}, seconds(3700), seconds(60)));
}

// Random backends come and go; the clock moves on, and sometimes steps back.
TEST(BackendIds, AreUniqueAndNeverComeBackEarly) {
  EXPECT_TRUE(rc::check("churn", [] {
    BackendIds ids;
    std::map<BackendId, milliseconds> left;
    std::map<std::string, BackendId> before;
    milliseconds now(0), latest(0);
    for (int step = *rc::gen::inRange(1, 60); step > 0; --step) {
      now += milliseconds(*rc::gen::inRange(-5'000, 400'000));
      latest = std::max(latest, now);
      std::vector<BackendIdentity> present;
      for (int n = 0; n < 30; ++n)
        if (*rc::gen::arbitrary<bool>()) present.push_back(who(std::to_string(n)));
      RC_ASSERT(ids.assign(present, now, rest).has_value());
      std::map<std::string, BackendId> after;
      std::set<BackendId> seen;
      for (const auto& backend : present) {
        const BackendId id = *ids.find(backend);
        RC_ASSERT(seen.insert(id).second);
        if (const auto old = before.find(backend.name); old != before.end())
          RC_ASSERT(old->second == id);
        else if (const auto gone = left.find(id); gone != left.end())
          RC_ASSERT(gone->second + rest < latest);
        after.emplace(backend.name, id);
      }
      for (const auto& [name, id] : before)
        if (!after.contains(name)) left[id] = latest;
      before = std::move(after);
    }
  }));
}

// Counters go by id: a backend that is added long after another left does not begin with that one's.
TEST(BackendIds, UnusedOnesComeFirst) {
  BackendIds ids(100);
  std::set<BackendId> used;
  for (int i = 0; i < 99; ++i) {
    ASSERT_TRUE(ids.assign({who("stays"), who(std::to_string(i))}, minutes(20 * i), rest));
    ASSERT_TRUE(used.insert(*ids.find(who(std::to_string(i)))).second) << i;
  }
  // Then the one that has rested longest.
  ASSERT_TRUE(ids.assign({who("stays"), who("late")}, minutes(20 * 99), rest));
  EXPECT_EQ(*ids.find(who("late")), *used.begin());
}

TEST(BackendIds, SufficeForAnyNumberOfAddsAndRemoves) {
  BackendIds ids(40);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(ids.assign({who("stays"), who(std::to_string(i))}, minutes(i), rest));
    ASSERT_LE(ids.resting(), 40U);
  }
}

TEST(ServiceIds, StayAndAreUnique) {
  ServiceIds ids;
  ids.assign({"a", "b"});
  const auto b = ids.find("b");
  ids.assign({"b", "c"});
  EXPECT_EQ(ids.find("b"), b);
  EXPECT_NE(ids.find("c"), b);
  EXPECT_EQ(ids.find("a"), std::nullopt);
}

TEST(ServiceIds, SurviveMoreNamesThanIds) {
  ServiceIds ids;
  for (std::size_t i = 0; i < service_ids_max + 10; ++i) ids.assign({"stays", std::to_string(i)});
  EXPECT_EQ(ids.find("stays"), ServiceId{0});
  EXPECT_LT(to_index(*ids.find(std::to_string(service_ids_max + 9))), service_ids_max);
}

}  // namespace
}  // namespace guideway
