// Since when a director has seen every flow of a backend begin.
#include "state/flow_witness.h"

#include <gtest/gtest.h>

#include "sites.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// A witness of sites::site(3), whose timeouts.established is 15 min, and what it says of web-1.
struct Story {
  explicit Story(bool first_start) : witness(first_start) { witness.follow(site, 0ms); }
  std::optional<UnseenFlows> at(milliseconds now, const FlowMarks& marks = {}) const {
    return witness.unseen(site.pools[0], site.pools[0].backends[0], now, marks);
  }
  void change(milliseconds now, const Site& to) { witness.follow(site = to, now); }

  Site site = sites::site(3);
  FlowWitness witness;
};

TEST(FlowWitness, ARestartHidesFlowsUntilSilentOnesHaveAgedOut) {
  const Story story(false);
  EXPECT_EQ(story.at(0ms), (UnseenFlows{Unseen::started, 0ms, 15min}));
  EXPECT_EQ(story.at(5min), (UnseenFlows{Unseen::started, 5min, 10min}));
  EXPECT_TRUE(story.at(15min - 1ms));
  EXPECT_FALSE(story.at(15min));
}

TEST(FlowWitness, TheFirstStartHasNothingBeforeItUnlessStrangersShowIt) {
  const Story story(true);
  EXPECT_FALSE(story.at(0ms));
  FlowMarks elsewhere;
  elsewhere.any_stranger = true;
  EXPECT_EQ(story.at(1min, elsewhere), (UnseenFlows{Unseen::started, 1min, 14min}));
  EXPECT_FALSE(story.at(15min, elsewhere));
}

TEST(FlowWitness, ANewBackendIsKnownAndOneThatComesBackIsNot) {
  Story story(false);
  const Site all = story.site;
  Site without = all;
  std::erase_if(without.pools.edit(0).backends, [](const Backend& b) { return b.name == "web-1"; });
  Site moved = all;
  moved.pools.edit(0).backends[0].address = sites::ip("10.9.9.9");

  story.change(20min, moved);
  EXPECT_FALSE(story.at(20min)) << "of this address there was nobody";
  story.change(21min, without);
  story.change(22min, moved);
  EXPECT_EQ(story.at(23min), (UnseenFlows{Unseen::came_back, 1min, 14min}));
  story.change(24min, without);
  story.change(39min, moved);
  EXPECT_FALSE(story.at(39min)) << "it was away for longer than a silent flow is remembered";
  story.change(40min, all);
  EXPECT_EQ(story.at(40min), std::nullopt) << "so was its old address";
}

TEST(FlowWitness, AChangeOfSomethingElseChangesNothing) {
  Story story(false);
  Site other = story.site;
  other.pools.edit(0).backends[1].weight = 7;
  story.change(10min, other);
  EXPECT_EQ(story.at(10min), (UnseenFlows{Unseen::started, 10min, 5min}));
  EXPECT_FALSE(story.at(15min));
}

TEST(FlowWitness, AFlowTableCountsFromWhenItWasTurnedOn) {
  Story story(true);
  Site off = story.site;
  off.pools.edit(0).flow_table = false;
  const Site on = story.site;
  story.change(1min, off);
  story.change(30min, on);
  EXPECT_EQ(story.at(31min), (UnseenFlows{Unseen::table_on, 1min, 14min}));
  EXPECT_FALSE(story.at(45min));
}

TEST(FlowWitness, MarksCountForAsLongAsASilentFlow) {
  const Story story(true);
  FlowMarks marks;
  marks.refused = 3min;
  EXPECT_EQ(story.at(20min, marks), (UnseenFlows{Unseen::table_full, 3min, 12min}));
  marks.stranger = 2s;
  EXPECT_EQ(story.at(20min, marks), (UnseenFlows{Unseen::strangers, 2s, 15min - 2s})) << "the longer one";
  EXPECT_FALSE(story.at(20min, {.stranger = 15min, .refused = 15min}));
}

TEST(FlowWitness, ReadsTheLatestMarkOfAllWorkers) {
  WorkerCounters one, other;
  BackendMarks::set(one.marks(BackendId(7)).stranger_ms, 1000);
  BackendMarks::set(other.marks(BackendId(7)).stranger_ms, 4000);
  BackendMarks::set(other.marks(BackendId(8)).refused_ms, 4900);
  other.verdicts.strangers.add(1);
  FlowMarks marks;
  for (const WorkerCounters* worker : {&one, &other}) marks.add(*worker, BackendId(7), 5000);
  EXPECT_EQ(marks.stranger, 1000ms);
  EXPECT_FALSE(marks.refused);
  EXPECT_TRUE(marks.any_stranger);
  FlowMarks early;
  BackendMarks::set(one.marks(BackendId(9)).stranger_ms, 0);
  early.add(one, BackendId(9), 0);
  EXPECT_EQ(early.stranger, 0ms) << "a mark at the clock's zero is one";
}

TEST(UnseenSentence, SaysWhyAndUntilWhen) {
  const struct {
    UnseenFlows unseen;
    const char* sentence;
  } cases[] = {
      {{Unseen::started, 40s, 14min + 20s},
       "this director started 40 s ago, and connections from before are in no flow table; it will be known "
       "in "
       "15 min"},
      {{Unseen::came_back, 2min, 90s},
       "it came back to the pool 2 min ago, and connections from before are in no flow table; it will be "
       "known "
       "in 90 s"},
      {{Unseen::table_on, 2min, 90s},
       "the pool's flow table was turned on 2 min ago, and connections from before are in no flow table; it "
       "will "
       "be known in 90 s"},
      {{Unseen::table_full, 1s, 90s},
       "1 s ago a flow table was full, or was purged, and has no entry for a flow of it; it will be known in "
       "90 s"},
      {{Unseen::strangers, 1500ms, 90s},
       "connections that this director did not see begin go on, the last packet 2 s ago, and may be its own; "
       "it "
       "will be known in 90 s, if no more come"},
  };
  for (const auto& each : cases) EXPECT_EQ(unseen_sentence(each.unseen), each.sentence);
}

}  // namespace
}  // namespace guideway
