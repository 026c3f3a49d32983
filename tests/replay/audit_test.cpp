#include "replay/audit.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

struct Step {
  bool syn;
  std::vector<std::uint32_t> hops;  // empty: lost
};

struct Case {
  const char* description;
  std::vector<Step> steps;
  std::uint64_t flows, began_before, broken, passed_on;
};

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
  };
  const FlowTuple tuple{IpAddress::parse("192.0.2.1").value(), IpAddress::parse("192.0.2.2").value(), 1, 2,
                        6};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.description);
    Audit audit;
    std::uint64_t packet = 0;
    for (const Step& step : c.steps) {
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
    EXPECT_EQ(audit.report().first_broken.size(), c.broken);
  }
}

}  // namespace
}  // namespace guideway
