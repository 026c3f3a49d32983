// The journal where the disk refuses a step, the process is killed, or the power fails.
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <random>

#include "journals.h"

namespace guideway {
namespace {

TEST(JournalPower, APowerCutAfterAnyStepLeavesTheOldVersionOrTheNewOne) {
  const auto versions = chain();
  std::mt19937 random(7);
  std::size_t cuts = 0;
  for (std::size_t steps = 0;; ++steps) {
    const auto platters = std::make_shared<Platters>();
    platters->steps_until_cut = steps;
    std::size_t stored = 0;  // versions that were acknowledged
    {
      Journal journal = open_on(platters);
      for (const SiteVersion& version : versions) {
        if (!journal.store(version)) break;
        ++stored;
      }
    }
    if (stored == versions.size()) break;
    for (int outcome = 0; outcome < 20; ++outcome, ++cuts) {
      const auto restarted = std::make_shared<Platters>();
      restarted->files = restarted->durable = platters->after_cut(random);
      Journal journal = open_on(restarted);
      const auto found = journal.load();
      ASSERT_TRUE(found) << "cut after step " << steps << ": " << found.error().text();
      if (!*found) {
        ASSERT_EQ(stored, 0U) << "cut after step " << steps;
        continue;
      }
      // What was acknowledged is there; the one after it may be.
      const std::size_t index = to_index((*found)->epoch) - 1;
      ASSERT_TRUE(index + 1 == stored || index == stored) << "cut after step " << steps;
      ASSERT_TRUE(sites::same(**found, versions[index]));
      // And the journal goes on from there.
      if (index + 1 < versions.size()) {
        const SiteVersion next = renumbered(versions[index + 1], journal);
        ASSERT_GE(next.epoch, versions[index + 1].epoch);
        ASSERT_TRUE(journal.store(next));
        ASSERT_TRUE(sites::same(**open_on(restarted).load(), next));
      }
    }
  }
  EXPECT_GT(cuts, 500U);
}

TEST(JournalPower, AStepThatFailsRefusesTheVersionAndKeepsTheOldOne) {
  const auto versions = chain();
  for (std::size_t failing = 0;; ++failing) {
    const auto platters = std::make_shared<Platters>();
    Journal journal = open_on(platters);
    ASSERT_TRUE(journal.store(versions[0]));
    platters->steps_until_cut = platters->steps + failing;
    platters->fail_only = true;
    const auto stored = journal.store(versions[1]);
    const bool reached = platters->steps > platters->steps_until_cut;
    const SiteVersion expected = stored ? versions[1] : versions[0];
    EXPECT_TRUE(sites::same(**journal.load(), expected)) << "step " << failing;
    EXPECT_TRUE(sites::same(**open_on(std::make_shared<Platters>(*platters)).load(), expected))
        << "step " << failing;
    // The next try goes through.
    platters->fail_only = false;
    platters->steps_until_cut = SIZE_MAX;
    SiteVersion next = versions[1];
    if (!stored) {
      next = renumbered(next, journal);
      EXPECT_TRUE(journal.store(next)) << "step " << failing;
    }
    EXPECT_TRUE(sites::same(**open_on(platters).load(), next));
    if (!reached) break;
  }
}

// The disk takes nothing from some step on, the wiping included.
TEST(JournalPower, ARefusalThatCannotBeReliedOnSaysSo) {
  const std::string doubt = "a restart may bring it into force";
  int doubted = 0;
  for (std::size_t steps = 0; steps < 4; ++steps) {
    const auto platters = std::make_shared<Platters>();
    Journal journal = open_on(platters);
    ASSERT_TRUE(journal.store(chain()[0]));
    platters->steps_until_cut = platters->steps + steps;
    const auto stored = journal.store(chain()[2]);
    if (stored) continue;
    const bool says_so = stored.error().text().find(doubt) != std::string::npos;
    doubted += says_so ? 1 : 0;
    platters->steps_until_cut = SIZE_MAX;
    const SiteVersion kept = **open_on(platters).load();
    EXPECT_TRUE(says_so || sites::same(kept, chain()[0])) << "step " << steps;
  }
  EXPECT_GT(doubted, 0);
}

// The change that fills a generation, and those around it.
TEST(JournalPower, APowerCutWhereAGenerationEndsLeavesTheOldVersionOrTheNewOne) {
  std::vector<SiteVersion> versions{first_version()};
  for (int i = 0; i < 67; ++i)
    versions.push_back(sites::after(
        versions.back(),
        SetBackendState{"web", "web-1", i % 2 == 0 ? BackendState::draining : BackendState::active}));
  const auto filled = std::make_shared<Platters>();
  {
    Journal journal = open_on(filled);
    for (std::size_t i = 0; i < 63; ++i) ASSERT_TRUE(journal.store(versions[i]));
  }
  filled->durable = filled->files;
  filled->since.clear();
  std::mt19937 random(11);
  for (const bool tidies : {true, false}) {
    for (std::size_t steps = 0;; ++steps) {
      const auto platters = std::make_shared<Platters>(*filled);
      platters->steps_until_cut = platters->steps + steps;
      std::size_t stored = 63;
      {
        Journal journal = open_on(platters);
        ASSERT_TRUE(*journal.load());
        for (; stored < versions.size() && journal.store(versions[stored]); ++stored)
          if (tidies) (void)journal.tidy();
      }
      if (!platters->cut()) break;
      for (int outcome = 0; outcome < 20; ++outcome) {
        const auto restarted = std::make_shared<Platters>();
        restarted->files = restarted->durable = platters->after_cut(random);
        Journal journal = open_on(restarted);
        const auto found = journal.load();
        ASSERT_TRUE(found) << "cut after step " << steps << ": " << found.error().text();
        const std::size_t index = to_index((**found).epoch) - 1;
        ASSERT_TRUE(index + 1 == stored || index == stored) << "cut after step " << steps;
        ASSERT_TRUE(sites::same(**found, versions[index]));
        ASSERT_TRUE(sites::same(**journal.load_previous(), versions[index - 1]));
        ASSERT_GE(journal.highest(), (**found).epoch);
        ASSERT_TRUE(journal.tidy());
        const SiteVersion next = renumbered(versions[index - 1], journal);
        ASSERT_TRUE(journal.store(next));
        ASSERT_TRUE(sites::same(**open_on(restarted).load(), next));
      }
    }
  }
}

// A site whose pools stand in another order is no change of a few objects: it is stored as a whole.
SiteVersion turned(const SiteVersion& version) {
  SiteVersion out = version;
  out.site.pools = {};
  for (std::size_t i = version.site.pools.size(); i-- > 0;) out.site.pools.push_back(version.site.pools[i]);
  return out;
}

SiteVersion two_pools() {
  SiteVersion out = chain()[3];
  out.epoch = Epoch{1};
  return out;
}

SiteVersion with_more(SiteVersion version, std::initializer_list<const char*> pools) {
  const Epoch epoch{to_index(version.epoch) + 1};
  for (const char* pool : pools) version = sites::after(version, AddBackend{pool, sites::backend(8)});
  version.epoch = epoch;
  return version;
}

struct Attempt {
  const char* name;
  std::vector<SiteVersion> before;
  std::function<bool(Journal&)> attempt;
  std::function<SiteVersion(const SiteVersion& now)> next;
};

SiteVersion drained(const SiteVersion& now) {
  return sites::after(now, SetBackendState{"web", "web-2", BackendState::draining});
}

// Two pools, and after it as many changes as a generation takes.
std::vector<SiteVersion> a_full_generation() {
  std::vector<SiteVersion> out{two_pools()};
  for (int i = 0; i < 64; ++i)
    out.push_back(sites::after(
        out.back(),
        SetBackendState{"web", "web-3", i % 2 == 0 ? BackendState::draining : BackendState::active}));
  return out;
}

// Each is refused, or cut short by kill -9, at every one of its steps.
std::vector<Attempt> attempts() {
  const auto store = [](const SiteVersion& version) {
    return [version](Journal& journal) { return journal.store(renumbered(version, journal)).has_value(); };
  };
  const auto tidy = [](Journal& journal) { return journal.tidy().has_value(); };
  const auto deal = [](const SiteVersion& now) { return with_more(now, {"web"}); };
  const SiteVersion one = first_version(), two = two_pools();
  return {{"a drain, then another", {one}, store(chain()[2]), drained},
          {"a deal, then a drain", {one}, store(deal(one)), drained},
          {"a deal, then the same", {one}, store(deal(one)), deal},
          {"two deals at once, then one of them", {two}, store(with_more(two, {"api", "web"})), deal},
          {"a whole version, then a drain", {two}, store(turned(two)), drained},
          {"tidying up, then a drain", a_full_generation(), tidy, drained}};
}

// What comes after an attempt that failed is acknowledged, so it is there whenever the power fails from then on.
TEST(JournalPower, WhatIsAcknowledgedAfterARefusalOrAKillIsThereAfterAPowerCut) {
  std::mt19937 random(5);
  for (const Attempt& one : attempts()) {
    const auto prepared = std::make_shared<Platters>();
    for (Journal journal = open_on(prepared); const SiteVersion& version : one.before)
      ASSERT_TRUE(journal.store(version));
    for (const bool killed : {false, true}) {
      std::size_t failed = 0;
      for (std::size_t failing = 0;; ++failing) {
        const auto platters = std::make_shared<Platters>(*prepared);
        Journal journal = open_on(platters);
        ASSERT_TRUE(*journal.load());
        platters->steps_until_cut = platters->steps + failing;
        platters->fail_only = !killed;
        const bool done = one.attempt(journal);
        const bool reached = platters->steps > platters->steps_until_cut;
        platters->steps_until_cut = SIZE_MAX;
        platters->fail_only = false;
        if (!reached) break;
        if (done) continue;
        ++failed;
        if (killed) journal = open_on(platters);
        const SiteVersion next = renumbered(one.next(**journal.load()), journal);
        const auto stored = journal.store(next);
        ASSERT_TRUE(stored) << stored.error().text();
        for (int outcome = 0; outcome < 20; ++outcome) {
          const auto restarted = std::make_shared<Platters>();
          restarted->files = restarted->durable = platters->after_cut(random);
          const auto found = open_on(restarted).load();
          ASSERT_TRUE(found) << one.name << ", step " << failing << (killed ? ", killed: " : ": ")
                             << found.error().text();
          ASSERT_TRUE(sites::same(**found, next))
              << one.name << ", step " << failing << (killed ? ", killed" : "") << ": epoch "
              << to_index((**found).epoch) << " instead of " << to_index(next.epoch);
        }
      }
      EXPECT_GE(failed, 2U) << one.name;
    }
  }
}

}  // namespace
}  // namespace guideway
