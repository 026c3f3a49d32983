// The wait for the end of a drain, against answers that a test makes up.
#include "cli/wait.h"

#include <gtest/gtest.h>

namespace guideway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

json list_of(const json& backend) { return {{"backends", json::array({backend})}}; }
json draining(int flows) { return {{"name", "web-1"}, {"state", "draining"}, {"live_flows", flows}}; }

TEST(Wait, EndsWithTheLastFlow) {
  int flows = 3;
  const Ask ask = [&flows](const std::vector<std::string>& words) -> Result<json> {
    EXPECT_EQ(words, (std::vector<std::string>{"backend", "list", "web"}));
    return list_of(draining(flows--));
  };
  std::vector<std::uint64_t> told;
  EXPECT_TRUE(wait_drained(ask, "web", "web-1", 10s, [&told](std::uint64_t left) { told.push_back(left); }));
  EXPECT_EQ(flows, -1);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{3, 2, 1, 0}));
}

TEST(Wait, TimeIsUpWithTheNumberOfFlowsLeft) {
  const Ask ask = [](const auto&) -> Result<json> { return list_of(draining(17)); };
  const auto begin = std::chrono::steady_clock::now();
  const auto waited = wait_drained(ask, "web", "web-1", 120ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().kind, ErrorKind::timeout);
  EXPECT_NE(waited.error().what.find("17 live flows"), std::string::npos);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 120ms);
}

TEST(Wait, EndsWhenSomebodyElseEndsTheDrain) {
  const Ask active = [](const auto&) -> Result<json> {
    return list_of({{"name", "web-1"}, {"state", "active"}});
  };
  EXPECT_EQ(wait_drained(active, "web", "web-1", 10s).error().kind, ErrorKind::refused);
  const Ask removed = [](const auto&) -> Result<json> {
    return list_of({{"name", "web-2"}, {"state", "active"}});
  };
  EXPECT_EQ(wait_drained(removed, "web", "web-1", 10s).error().kind, ErrorKind::not_found);
  const Ask gone = [](const auto&) -> Result<json> {
    return fail(ErrorKind::no_daemon, "no daemon answers here");
  };
  EXPECT_EQ(wait_drained(gone, "web", "web-1", 10s).error().kind, ErrorKind::no_daemon);
}

TEST(Wait, NeedsAFlowTable) {
  for (const bool flow_table : {false, true}) {
    const Ask ask = [flow_table](const auto&) -> Result<json> { return json{{"flow_table", flow_table}}; };
    EXPECT_EQ(can_wait(ask, "web").has_value(), flow_table);
  }
}

}  // namespace
}  // namespace guideway
