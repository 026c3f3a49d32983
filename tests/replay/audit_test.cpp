#include "replay/audit.h"

#include <gtest/gtest.h>

#include <set>

namespace guideway {
namespace {

struct Step {
  bool syn;
  std::vector<std::uint32_t> hops;  // empty: lost
  std::set<BackendId> down = {};
};

struct Case {
  const char* description;
  std::vector<Step> steps;
  std::uint64_t flows, began_before, broken, passed_on;
  std::uint64_t lost_with_backend = 0, swallowed = 0;
};

constexpr BackendId one{1}, two{2}, three{3};

TEST(Audit, SecondChance) {
  const std::vector<Case> cases = {
      {"a connection that stays", {{true, {1, 2}}, {false, {1, 2}}}, 1, 0, 0, 0},
      {"its backend is the second hop", {{true, {1, 2}}, {false, {2, 1}}}, 1, 0, 0, 1},
      {"its backend is the third hop", {{true, {1, 2}}, {false, {2, 3, 1}}, {false, {3, 1}}}, 1, 0, 0, 2},
      {"its backend is no hop", {{true, {1, 2}}, {false, {2, 3}}}, 1, 0, 1, 0},
      {"it breaks once", {{true, {1}}, {false, {2}}, {false, {2}}}, 1, 0, 1, 0},
      {"a SYN to another backend is a new connection", {{true, {1}}, {true, {2}}, {false, {2}}}, 2, 0, 0, 0},
      {"a SYN sent again is not", {{true, {1}}, {true, {1}}, {false, {1}}}, 1, 0, 0, 0},
      {"it began before the capture", {{false, {3, 1}}, {false, {3, 1}}}, 1, 1, 0, 0},
      {"it began before the capture and breaks", {{false, {3, 1}}, {false, {1, 2}}}, 1, 1, 1, 0},
      {"a packet that reaches nobody", {{true, {1}}, {false, {}}}, 1, 0, 1, 0},
      {"a SYN that nobody takes", {{true, {}}, {true, {1}}, {true, {}}, {false, {1}}}, 1, 0, 0, 0},
      {"nothing known of a lost packet", {{false, {}}}, 0, 0, 0, 0},
      {"its backend dies, and it is sent there",
       {{true, {1}}, {false, {1, 2}, {one}}, {false, {1, 2}, {one}}},
       1,
       0,
       0,
       0,
       1,
       2},
      {"its backend dies, and a hop passes it on there",
       {{true, {1}}, {false, {2, 1}, {one}}},
       1,
       0,
       0,
       0,
       1,
       1},
      {"its backend dies, and others get it", {{true, {1}}, {false, {2, 3}, {one}}}, 1, 0, 0, 0, 1, 0},
      {"its backend dies, and nobody gets it", {{true, {1}}, {false, {}, {one}}}, 1, 0, 0, 0, 1, 0},
      {"a dead hop in front of its backend", {{true, {1}}, {false, {2, 1}, {two}}}, 1, 0, 1, 0, 0, 1},
      {"a dead hop behind its backend",
       {{true, {1}}, {false, {1, 2}, {two}}, {false, {3, 1, 2}, {two}}},
       1,
       0,
       0,
       1,
       0,
       0},
      {"a dead hop that is not its backend, behind another such",
       {{true, {1}}, {false, {3, 2}, {two}}},
       1,
       0,
       1,
       0,
       0,
       1},
      {"a SYN to a dead backend, sent again to a living one",
       {{true, {1}, {one}}, {true, {2}, {one}}, {false, {2}, {one}}},
       2,
       0,
       0,
       0,
       1,
       1},
      {"all are dead",
       {{true, {1, 2}, {one, two, three}}, {false, {1, 2}, {one, two, three}}},
       1,
       0,
       0,
       0,
       1,
       2},
      {"it began before the capture, at a dead backend", {{false, {1, 2}, {one}}}, 1, 1, 0, 0, 1, 1},
      {"it broke before its backend died",
       {{true, {1}}, {false, {2}}, {false, {1}, {one}}},
       1,
       0,
       1,
       0,
       0,
       1},
  };
  const FlowTuple tuple{IpAddress::parse("192.0.2.1").value(), IpAddress::parse("192.0.2.2").value(), 1, 2,
                        6};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    Audit audit;
    std::uint64_t packet = 0;
    for (const Step& step : c.steps) {
      audit.set_down(step.down);
      std::vector<BackendId> hops;
      for (const std::uint32_t hop : step.hops) hops.push_back(BackendId(hop));
      if (hops.empty()) {
        audit.lost(tuple, step.syn, packet++);
      } else {
        audit.forwarded(tuple, step.syn, packet++, hops);
      }
    }
    EXPECT_EQ(audit.report().flows, c.flows);
    EXPECT_EQ(audit.report().began_before, c.began_before);
    EXPECT_EQ(audit.report().broken, c.broken);
    EXPECT_EQ(audit.report().packets_passed_on, c.passed_on);
    EXPECT_EQ(audit.report().lost_with_backend, c.lost_with_backend);
    EXPECT_EQ(audit.report().packets_swallowed, c.swallowed);
    EXPECT_EQ(audit.report().first_broken.size(), c.broken);
  }
}

// Of the verdicts that keep a packet from a backend, only those end its connection that would do so to every packet.
TEST(Audit, FateOfEveryVerdict) {
  const std::set<Verdict> no_backend_verdicts = {Verdict::kernel, Verdict::drop_unmatched,
                                                 Verdict::drop_no_backend_syn, Verdict::drop_no_backend_udp,
                                                 Verdict::drop_no_backend};
  for (std::size_t i = 0; i < verdict_count; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const Fate expected = verdict == Verdict::forward             ? Fate::reaches_a_backend
                          : no_backend_verdicts.contains(verdict) ? Fate::reaches_no_backend
                                                                  : Fate::lost_on_the_way;
    EXPECT_EQ(fate_of(verdict), expected) << name(verdict);
  }
}

}  // namespace
}  // namespace guideway
