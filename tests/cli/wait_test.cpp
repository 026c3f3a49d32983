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
  EXPECT_TRUE(
      wait_drained(ask, "web", "web-1", 10s, [&told](const Left& left) { told.push_back(left.flows); }));
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

json unknown(int flows) {
  json out = draining(flows);
  out["unseen_flows"] = {
      {"why", "started"}, {"ago_ms", 1}, {"known_in_ms", 2}, {"sentence", "it has just begun"}};
  return out;
}

TEST(Wait, EndsWhenItIsKnownThatThereAreNoFlows) {
  int looks = 0;
  const Ask ask = [&looks](const auto&) -> Result<json> {
    if (++looks < 3) return list_of(unknown(0));
    json known = draining(0);
    known["unseen_flows"] = nullptr;
    return list_of(known);
  };
  std::vector<std::string> told;
  EXPECT_TRUE(
      wait_drained(ask, "web", "web-1", 10s, [&told](const Left& left) { told.push_back(left.unseen); }));
  EXPECT_EQ(told, (std::vector<std::string>{"it has just begun", "it has just begun", ""}));
}

TEST(Wait, TimeIsUpWithWhatIsNotKnown) {
  const auto waited = [](int flows) {
    const Ask ask = [flows](const auto&) -> Result<json> { return list_of(unknown(flows)); };
    return wait_drained(ask, "web", "web-1", 60ms);
  };
  for (const int flows : {0, 17}) {
    const auto late = waited(flows);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ErrorKind::timeout);
    EXPECT_TRUE(late.error().what.ends_with("that nobody here has counted: it has just begun"))
        << late.error().what;
  }
  EXPECT_NE(waited(17).error().what.find("still has 17 live flows and may"), std::string::npos);
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
