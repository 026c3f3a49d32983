// Commands about flows: what they tell of the tables, and what a purge asks for before it forgets any.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_director.h"
#include "guideway/flow.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const std::string flow_words = "tcp 198.51.100.7:40000 203.0.113.10:443";
const std::string udp_words = "udp 198.51.100.7:40000 203.0.113.10:443";

// The row of flow_words, by name, as many as it has.
std::vector<std::string> row_of(FakeDirector& director, const std::string& words = flow_words) {
  std::vector<std::string> out;
  const json explained = *director("explain " + words);
  for (const json& hop : explained["hops"]) out.push_back(hop["backend"]);
  return out;
}

// A backend of pool web that is in no place of `row`.
std::string elsewhere(const std::vector<std::string>& row) {
  for (const char* name : {"web-1", "web-2", "web-3"})
    if (std::find(row.begin(), row.end(), name) == row.end()) return name;
  return {};
}

FlowEntry entry_of(const std::string& backend, FlowPhase phase = FlowPhase::established) {
  return {1, "web", backend, phase, 1500ms, 898500ms};
}

Site site_with_udp() {
  Site site = small_site();
  Service dns = site.services.front();
  dns.name = "dns";
  dns.protocol = 17;
  site.services.push_back(dns);
  return site;
}

TEST(Flow, ListCountsByBackendAndState) {
  FakeDirector director;
  director.live_side.tables.held = {
      {{"web", "web-1", {1, 2, 3, 0}}, {"web", "web-2", {0, 1200, 0, 7}}, {"spare", "s-1", {}}},
      4,
      {{1, 1217, 2048}}};
  const json all = *director("flow list");
  ASSERT_EQ(all["backends"].size(), 3U);
  EXPECT_EQ(all["backends"][0], (json{{"pool", "web"},
                                      {"backend", "web-1"},
                                      {"new", 1},
                                      {"established", 2},
                                      {"closing", 3},
                                      {"udp", 0},
                                      {"all", 6}}));
  EXPECT_EQ(all["gone"], 4);
  EXPECT_EQ(all["workers"], json::array({json{{"lcore", 1}, {"flows", 1217}, {"room", 2048}}}));
  EXPECT_EQ((*director("flow"))["backends"], all["backends"]) << "list is the verb that is meant";
  EXPECT_EQ((*director("flow list --pool web"))["backends"].size(), 2U);
  EXPECT_EQ((*director("flow list --pool web --backend web-2"))["backends"][0]["udp"], 7);
  const std::string text = text_of("flow list", all);
  EXPECT_NE(text.find("1,207"), std::string::npos) << text;
  EXPECT_NE(text.find("4 flows of backends that left"), std::string::npos) << text;
}

TEST(Flow, ListRefusesWhatIsNotThere) {
  FakeDirector director;
  EXPECT_EQ(director("flow list --pool wen").error().kind, ErrorKind::not_found);
  EXPECT_EQ(director("flow list --pool web --backend web-9").error().kind, ErrorKind::not_found);
  EXPECT_EQ(director("flow list --backend web-1").error().kind, ErrorKind::usage);
  director.alive = false;
  EXPECT_EQ(director("flow list").error().kind, ErrorKind::usage) << "no daemon, no flows";
}

TEST(Flow, ShowAsksByTheHashThatTheDataPlaneComputes) {
  FakeDirector director;
  const json flow = *director("flow show " + flow_words);
  FlowTuple tuple;
  tuple.source = ip("198.51.100.7");
  tuple.destination = ip("203.0.113.10");
  tuple.source_port = 40000;
  tuple.destination_port = 443;
  tuple.protocol = 6;
  EXPECT_EQ(director.live_side.tables.hashes_asked, std::vector{flow_hash(tuple, 0x5eed)});
  const auto row = row_of(director);
  EXPECT_EQ(flow["sent_to"], json(row));
  EXPECT_EQ(flow["entries"], json::array());
  EXPECT_EQ(flow["verdict"], "in no table: goes to the row's hops; a new flow goes to " + row[0]);
  EXPECT_NE(text_of("flow show " + flow_words, flow).find("entry    none"), std::string::npos);
}

TEST(Flow, ShowTellsWhoseFlowItIsAndWhereItGoes) {
  FakeDirector director;
  const auto row = row_of(director);
  const std::string other = elsewhere(row);
  ASSERT_FALSE(other.empty()) << "a row with everybody up names two of three";
  director.live_side.tables.entries = {entry_of(other)};
  const json flow = *director("flow show " + flow_words);
  EXPECT_EQ(flow["entries"][0]["serves"], true);
  EXPECT_EQ(flow["entries"][0]["quiet_ms"], 1500);
  ASSERT_EQ(flow["sent_to"].size(), row.size()) << "as many as the row has";
  EXPECT_EQ(flow["sent_to"][0], other);
  EXPECT_EQ(flow["verdict"], "stays with " + other + "; a new flow goes to " + row[0]);
  const std::string text = text_of("flow show " + flow_words, flow);
  EXPECT_NE(text.find(other + ", established, lcore 1, quiet for 1s, ends in 14m 58s"), std::string::npos)
      << text;
}

TEST(Flow, ShowTellsOfAnEntryThatNoPacketFollows) {
  FakeDirector director;
  ASSERT_TRUE(director("backend disable web web-1 --force"));
  director.live_side.tables.entries = {entry_of("web-1")};
  json flow = *director("flow show " + flow_words);
  EXPECT_EQ(flow["entries"][0]["serves"], false);
  EXPECT_NE(flow["sent_to"][0], "web-1");
  director.live_side.tables.entries = {{1, "", "", FlowPhase::established, 0ms, 5000ms}};
  flow = *director("flow show " + flow_words);
  EXPECT_EQ(flow["entries"][0]["serves"], false);
  EXPECT_NE(text_of("flow show " + flow_words, flow).find("a backend that left"), std::string::npos);
}

TEST(Flow, ShowOfWhatIsNoServiceSaysSo) {
  FakeDirector director;
  const json flow = *director("flow show tcp 198.51.100.7:40000 192.0.2.77:443");
  EXPECT_TRUE(flow["service"].is_null());
  EXPECT_TRUE(director.live_side.tables.hashes_asked.empty());
  EXPECT_NE(text_of("flow show " + flow_words, flow).find("kernel"), std::string::npos);
}

TEST(Flow, PurgeOfABackendAsksForForceWhileAnyFlowIsOpen) {
  FakeDirector director;
  const std::string line = "flow purge --pool web --backend web-1";
  auto& held = director.live_side.tables.held;
  held.backends = {{"web", "web-1", {1, 2, 3, 4}}};
  const json planned = *director("plan " + line);
  EXPECT_EQ(planned["result"], "planned");
  EXPECT_EQ(planned["found"]["all"], 10);
  EXPECT_EQ(planned["needs_force"], true);
  EXPECT_EQ(held.backends[0].flows.all(), 10U) << "a plan removes nothing";
  EXPECT_NE(text_of(line, planned).find("needs --force: 7 open flows"), std::string::npos)
      << text_of(line, planned);
  EXPECT_EQ(director(line).error().kind, ErrorKind::refused);
  EXPECT_EQ(held.backends[0].flows.all(), 10U);
  const json done = *director(line + " --force");
  EXPECT_EQ(done["removed"], 10);
  EXPECT_EQ(text_of(line, done), "web-1 of pool web: 10 flows removed\n");
  EXPECT_EQ((*director(line))["removed"], 0) << "nothing is open any more";
}

TEST(Flow, PurgeOfWhatIsEndedOrStoppedAsksForNothing) {
  FakeDirector director;
  director.live_side.tables.held.backends = {{"web", "web-1", {0, 0, 3, 0}}};
  EXPECT_EQ((*director("flow purge --pool web --backend web-1"))["removed"], 3);
  ASSERT_TRUE(director("backend disable web web-1 --force"));
  director.live_side.tables.held.backends = {{"web", "web-1", {0, 5, 0, 0}}};
  EXPECT_EQ((*director("flow purge --pool web --backend web-1"))["removed"], 5) << "no packet follows these";
}

TEST(Flow, PurgeOfOneFlowAsksForForceOnlyWhereItWouldMove) {
  FakeDirector director(site_with_udp());
  auto& entries = director.live_side.tables.entries;
  const auto row = row_of(director), udp_row = row_of(director, udp_words);
  struct Case {
    const char* what;
    std::string words, backend;
    FlowPhase phase;
    bool force;
  };
  const Case cases[] = {
      {"TCP on the row's first hop", flow_words, row[0], FlowPhase::established, false},
      {"TCP on a further hop: the second chance finds it", flow_words, row[1], FlowPhase::established, false},
      {"TCP on no hop", flow_words, elsewhere(row), FlowPhase::established, true},
      {"ended", flow_words, elsewhere(row), FlowPhase::closing, false},
      {"UDP on the first hop", udp_words, udp_row[0], FlowPhase::udp, false},
      {"UDP on a further hop", udp_words, udp_row[1], FlowPhase::udp, true},
  };
  for (const Case& c : cases) {
    entries = {entry_of(c.backend, c.phase)};
    EXPECT_EQ((*director("plan flow purge " + c.words))["needs_force"], c.force) << c.what;
    EXPECT_EQ(director("flow purge " + c.words).has_value(), !c.force) << c.what;
    if (c.force) {
      EXPECT_EQ((*director("flow purge " + c.words + " --force"))["removed"], 1) << c.what;
    }
    EXPECT_TRUE(entries.empty()) << c.what;
  }
}

TEST(Flow, PurgeWantsOneTargetThatIsThere) {
  FakeDirector director;
  const std::pair<const char*, ErrorKind> cases[] = {
      {"flow purge", ErrorKind::usage},
      {"flow purge --pool web", ErrorKind::usage},
      {"flow purge tcp", ErrorKind::usage},
      {"flow purge tcp 198.51.100.7:40000", ErrorKind::usage},
      {"flow purge tcp 198.51.100.7:40000 203.0.113.10:443 --pool web", ErrorKind::usage},
      {"flow purge tcp 198.51.100.7:40000 203.0.113.10:443 --pool web --backend web-1", ErrorKind::usage},
      {"flow purge tcp 198.51.100.7:40000 192.0.2.77:443", ErrorKind::not_found},
      {"flow purge --pool web --backend web-9", ErrorKind::not_found},
      {"flow purge --pool web --backend web-1 --expect-epoch 99", ErrorKind::stale},
  };
  for (const auto& [line, kind] : cases) {
    const auto answer = director(line);
    ASSERT_FALSE(answer) << line;
    EXPECT_EQ(answer.error().kind, kind) << line << ": " << answer.error().text();
  }
}

TEST(Flow, PurgeTellsOfAWorkerThatDoesNotAnswer) {
  FakeDirector director;
  director.live_side.tables.late = true;
  EXPECT_EQ(director("flow purge --pool web --backend web-1").error().kind, ErrorKind::timeout);
}

}  // namespace
}  // namespace guideway
