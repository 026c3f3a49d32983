// The store: changes, epochs, force, undo, and that the journal holds what the store says.
#include "state/store.h"

#include <gtest/gtest.h>

#include "scratch_directory.h"
#include "simulated_disk.h"
#include "sites.h"
#include "state/plan_sentences.h"

namespace guideway {
namespace {

Store open_in(const std::filesystem::path& path, std::optional<Site> seed) {
  auto journal = Journal::open(path);
  EXPECT_TRUE(journal) << journal.error().text();
  auto store = Store::open(std::move(*journal), std::move(seed));
  EXPECT_TRUE(store) << store.error().text();
  return std::move(*store);
}

Store in_memory(Site site) { return std::move(*Store::open(std::nullopt, std::move(site))); }

TEST(Store, ASeedFillsOnlyAnEmptyJournal) {
  const ScratchDirectory scratch;
  open_in(scratch.path(), sites::site(3));
  const Store again = open_in(scratch.path(), sites::site(5));
  EXPECT_EQ(again.current().epoch, Epoch{1});
  EXPECT_EQ(again.current().site, sites::site(3));
}

TEST(Store, AChangeSurvivesARestart) {
  const ScratchDirectory scratch;
  SiteVersion left;
  {
    Store store = open_in(scratch.path(), sites::site(3));
    ASSERT_TRUE(store.commit(AddBackend{"web", sites::backend(4)}, {}, {}));
    ASSERT_TRUE(store.commit(SetBackendState{"web", "web-2", BackendState::draining}, {}, {}));
    left = store.current();
  }
  EXPECT_EQ(left.epoch, Epoch{3});
  const Store store = open_in(scratch.path(), std::nullopt);
  EXPECT_TRUE(sites::same(store.current(), left));
}

TEST(Store, AnIdenticalChangeIsNoChange) {
  Store store = in_memory(sites::site(3));
  const auto plan = store.commit(SetBackendWeight{"web", "web-1", 100}, {}, {});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->no_op);
  EXPECT_EQ(plan->after.epoch, Epoch{1});
  EXPECT_EQ(store.current().epoch, Epoch{1});
}

TEST(Store, AStaleEpochIsRefused) {
  Store store = in_memory(sites::site(3));
  CommitOptions options;
  options.expect_epoch = Epoch{1};
  ASSERT_TRUE(store.commit(SetBackendWeight{"web", "web-1", 50}, {}, options));
  const auto late = store.commit(SetBackendWeight{"web", "web-1", 60}, {}, options);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::stale);
  EXPECT_EQ(late.error().what, "the site is at epoch 2, not at epoch 1");
}

TEST(Store, ForceIsAskedForWhereConnectionsWouldBreak) {
  Store store = in_memory(sites::site(3));
  const auto refused = store.commit(RemoveBackend{"web", "web-2"}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("of 1,009 rows of pool \"web\" would lose connections of web-2"),
            std::string::npos)
      << refused.error().text();
  EXPECT_EQ(store.current().epoch, Epoch{1});
  EXPECT_TRUE(store.commit(RemoveBackend{"web", "web-2"}, {}, {.force = true}));
}

TEST(Store, ADrainedBackendLeavesWithoutForce) {
  Store store = in_memory(sites::site(3));
  ASSERT_TRUE(store.commit(SetBackendState{"web", "web-2", BackendState::draining}, {}, {}));
  EXPECT_FALSE(store.commit(RemoveBackend{"web", "web-2"}, {}, {})) << "nobody has counted its flows";
  const LiveFlows none{[](const std::string&, const std::string&) { return FlowCount{}; }, {}};
  EXPECT_TRUE(store.commit(RemoveBackend{"web", "web-2"}, {}, {}, none));
}

TEST(Store, UndoRestoresTheSiteAndTheSeats) {
  Store store = in_memory(sites::site(3));
  const SiteVersion before = store.current();
  ASSERT_TRUE(store.commit(SetBackendWeight{"web", "web-1", 300}, {}, {}));
  const auto undone = store.undo({}, {});
  ASSERT_TRUE(undone) << undone.error().text();
  EXPECT_EQ(store.current().epoch, Epoch{3});
  EXPECT_EQ(store.current().site, before.site);
  EXPECT_EQ(store.current().seatings.at("web")->holder, before.seatings.at("web")->holder);
}

TEST(Store, ARefusedUndoNamesAWayThatLeadsThere) {
  const auto set = [](const char* name, BackendState state) {
    return Change{SetBackendState{"web", name, state}};
  };
  struct Case {
    const char* what;
    std::vector<Change> before;
    Change change;
    const char* advice;
  };
  for (const Case& c :
       std::vector<Case>{{"an added backend",
                          {},
                          AddBackend{"web", sites::backend(9)},
                          "drain first (`guideway backend drain web web-9 --wait`), then `guideway backend "
                          "remove web web-9`"},
                         {"an enabled backend",
                          {set("web-2", BackendState::disabled)},
                          set("web-2", BackendState::active),
                          "then `guideway backend disable web web-2`"},
                         {"the first backend that takes flows",
                          {set("web-1", BackendState::draining), set("web-2", BackendState::draining),
                           set("web-3", BackendState::draining)},
                          AddBackend{"web", sites::backend(9)},
                          "let another backend of web take new flows first, then"}}) {
    Store store = in_memory(sites::site(3));
    for (const Change& change : c.before) ASSERT_TRUE(store.commit(change, {}, {.force = true})) << c.what;
    ASSERT_TRUE(store.commit(c.change, {}, {})) << c.what;
    const auto undone = store.undo({}, {});
    const auto planned = store.plan_undo({});
    ASSERT_TRUE(planned) << c.what;
    ASSERT_FALSE(undone) << c.what;
    EXPECT_NE(undone.error().next.find(c.advice), std::string::npos) << undone.error().next;
    EXPECT_EQ(instead_of_force(*planned), undone.error().next) << "a plan says the same";
  }
}

TEST(Store, UndoWithNothingBeforeIsRefused) {
  Store store = in_memory(sites::site(3));
  EXPECT_FALSE(store.undo({}, {}));
}

TEST(Store, AnEpochIsNeverGivenTwice) {
  const auto platters = std::make_shared<Platters>();
  const auto open = [&platters] {
    return *Store::open(*Journal::open(std::make_unique<SimulatedDisk>(platters)), sites::site(3));
  };
  const auto drain = [](BackendState state) { return SetBackendState{"web", "web-2", state}; };
  {
    Store store = open();
    EXPECT_TRUE(store.began_empty());
    ASSERT_TRUE(store.commit(drain(BackendState::draining), {}, {}));
    ASSERT_TRUE(store.commit(drain(BackendState::active), {}, {}));
    ASSERT_EQ(store.undo({}, {})->after.epoch, Epoch{4});
  }
  // Somebody takes the newest versions away; what was epoch 2 to 4 must not be something else now.
  ASSERT_EQ(platters->files.erase("changes-00000000000000000001"), 1U);
  Epoch last{};
  {
    Store store = open();
    EXPECT_FALSE(store.began_empty());
    EXPECT_EQ(store.current().epoch, Epoch{1});
    const Epoch next = store.plan(drain(BackendState::draining), {})->after.epoch;
    EXPECT_GT(next, Epoch{4});
    EXPECT_EQ(store.commit(drain(BackendState::draining), {}, {})->after.epoch, next);
    const Epoch undone = store.undo({}, {})->after.epoch;
    EXPECT_EQ(to_index(undone), to_index(next) + 1);
    // A version that could not be made durable was begun.
    platters->steps_until_cut = platters->steps;
    platters->fail_only = true;
    ASSERT_FALSE(store.commit(drain(BackendState::draining), {}, {}));
    platters->steps_until_cut = SIZE_MAX;
    last = store.commit(drain(BackendState::draining), {}, {})->after.epoch;
    EXPECT_GT(to_index(last), to_index(undone) + 1);
  }
  std::erase_if(platters->files, [](const auto& file) {
    return file.first.starts_with("site-") || file.first.starts_with("changes-");
  });
  Store store = open();
  EXPECT_FALSE(store.began_empty()) << "this director has served before";
  EXPECT_GT(store.current().epoch, last);
}

// Planned side by side, as the API's threads do; the first is begun and refused, which uses its epoch up.
TEST(Store, ARefusalStandsInNobodysWay) {
  const auto platters = std::make_shared<Platters>();
  Store store = *Store::open(*Journal::open(std::make_unique<SimulatedDisk>(platters)), sites::site(3));
  const auto one = store.plan(SetBackendState{"web", "web-1", BackendState::draining}, {});
  const auto other = store.plan(SetBackendState{"web", "web-2", BackendState::draining}, {});
  platters->fail_only = true;
  platters->steps_until_cut = platters->steps + 1;
  EXPECT_FALSE(store.commit(*one, {}));
  const auto done = store.commit(*other, {.expect_epoch = Epoch{1}});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->after.epoch, Epoch{3});
  EXPECT_EQ(store.current().epoch, Epoch{3});
}

// A change as one record, and as a version as a whole, with a deal: whichever step of the disk fails, the next try gets an
// epoch that the journal takes.
TEST(Store, AChangeThatTheDiskRefusedMayBeTriedAgainAtOnce) {
  for (const bool as_record : {true, false}) {
    std::size_t refused = 0;
    for (std::size_t steps = 0;; ++steps) {
      const auto platters = std::make_shared<Platters>();
      Store store = *Store::open(*Journal::open(std::make_unique<SimulatedDisk>(platters)), sites::site(3));
      if (!as_record) {
        ASSERT_EQ(platters->files.erase("changes-00000000000000000001"), 1U);
      }
      platters->fail_only = true;
      platters->steps_until_cut = platters->steps + steps;
      const Change change = AddBackend{"web", sites::backend(4)};
      const bool done = store.commit(change, {}, {}).has_value();
      const bool reached = platters->steps > platters->steps_until_cut;
      platters->steps_until_cut = SIZE_MAX;
      if (!done) {
        ++refused;
        const auto again = store.commit(change, {}, {});
        ASSERT_TRUE(again) << steps << ": " << again.error().text();
      }
      const Epoch epoch = store.current().epoch;
      EXPECT_EQ(Store::open(*Journal::open(std::make_unique<SimulatedDisk>(platters)), std::nullopt)
                    ->current()
                    .epoch,
                epoch);
      if (!reached) break;
    }
    EXPECT_GT(refused, as_record ? 3U : 5U);
  }
}

}  // namespace
}  // namespace guideway
