// Commands that read: their JSON, their screens, and that they change nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fake_director.h"

namespace guideway {
namespace {

using nlohmann::json;

TEST(Read, TableShowHasRowsOfNamesAndTheDigest) {
  FakeDirector director;
  const json table = *director("table show web");
  EXPECT_EQ(table["pool"], "web");
  ASSERT_EQ(table["rows"].size(), 1009U);
  std::map<std::string, int> firsts;
  for (const json& row : table["rows"]) {
    ASSERT_GE(row.size(), 1U);
    ASSERT_LE(row.size(), 3U);
    ++firsts[row[0]];
    EXPECT_EQ(std::set<json>(row.begin(), row.end()).size(), row.size()) << "a hop twice: " << row;
  }
  for (const auto& [name, count] : firsts) EXPECT_NEAR(count, 1009 / 3.0, 1) << name;
  EXPECT_EQ(table["digest"], (*director("table digest web"))["digest"]);
  EXPECT_EQ(table["digest"].get<std::string>().size(), 18U);
}

TEST(Read, DigestsOfRowsFollowHealthAndThoseOfTheSiteDoNot) {
  FakeDirector director;
  const json before = *director("table digest");
  ASSERT_TRUE(director("health set web web-1 down"));
  const json after = *director("table digest");
  EXPECT_EQ(before["site_digest"], after["site_digest"]);
  EXPECT_NE(before["pools"][0]["digest"], after["pools"][0]["digest"]);
  EXPECT_EQ(before["pools"][0]["site_digest"], after["pools"][0]["site_digest"]);
  EXPECT_EQ(before["epoch"], after["epoch"]);
}

TEST(Read, DiffFindsTheRowsThatHealthMoved) {
  FakeDirector director;
  EXPECT_EQ((*director("table diff web"))["differ"], 0);
  const json saved = *director("table show web");
  ASSERT_TRUE(director("health set web web-1 down"));
  const json against_up = *director("table diff web");
  const json against_saved = *director("table diff web saved.json", saved.dump());
  EXPECT_GT(against_up["differ"], 300);
  EXPECT_EQ(against_up["different"], against_saved["different"]);
  EXPECT_NEAR(against_up["first_differs"].get<int>(), 1009 / 3, 1);

  // A screen of them as text.
  const std::string text = text_of("table diff web", against_up);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 40 + 2) << text;
  EXPECT_NE(text.find("and " + std::to_string(against_up["differ"].get<int>() - 40) + " more: `--json`"),
            std::string::npos)
      << text;
}

TEST(Read, DiffRefusesFilesThatHoldNoRows) {
  FakeDirector director;
  const std::string deep(100000, '[');
  const std::string cases[] = {"", "no json", "[]", "{}", R"({"rows": 7})", R"({"rows": [["a"]]})", deep};
  for (const std::string& text : cases) {
    const auto answer = director("table diff web saved.json", text);
    ASSERT_FALSE(answer) << text.substr(0, 40);
    EXPECT_EQ(answer.error().where, "saved.json");
  }
  json wrong = *director("table show web");
  wrong["rows"][5] = {1, 2};
  EXPECT_FALSE(director("table diff web saved.json", wrong.dump()));
}

TEST(Read, ExplainFollowsTheFlowToItsRow) {
  FakeDirector director;
  const std::string line = "explain tcp 198.51.100.7:40000 203.0.113.10:443";
  const json flow = *director(line);
  const json rows = (*director("table show web"))["rows"];
  EXPECT_EQ(flow["service"], "www");
  EXPECT_EQ(flow["key"], "c6336407cb00710a9c4001bb06");
  const auto row = flow["row"].get<std::size_t>();
  EXPECT_EQ(std::stoull(flow["hash"].get<std::string>(), nullptr, 16) % 1009, row);
  ASSERT_EQ(flow["hops"].size(), rows[row].size());
  for (std::size_t i = 0; i < rows[row].size(); ++i) EXPECT_EQ(flow["hops"][i]["backend"], rows[row][i]);
  EXPECT_EQ(flow["seat"]["backend"], rows[row][0]);
  EXPECT_TRUE(flow["former"].is_null());
  EXPECT_NE(flow["hops"][0]["why"].get<std::string>().find("holds the seat"), std::string::npos);
  const std::string text = text_of(line, flow);
  EXPECT_NE(text.find("a new flow goes to " + rows[row][0].get<std::string>()), std::string::npos) << text;
}

// The bytes of design section 3, put together by hand.
TEST(Read, ExplainShowsTheBytesThatWouldLeave) {
  FakeDirector director;
  const std::string line = "explain tcp 198.51.100.7:40000 203.0.113.10:443";
  // While the second hop takes a row's new flows, the row has three.
  ASSERT_TRUE(director("backend drain web " + (*director(line))["seat"]["backend"].get<std::string>()));
  const json flow = *director(line);
  const std::uint64_t hash = std::stoull(flow["hash"].get<std::string>(), nullptr, 16);
  const auto hex_address = [](const json& hop) {
    std::string out;
    const IpAddress address = ip(hop["address"]);
    for (const std::uint8_t byte : address.view()) {
      constexpr char digits[] = "0123456789abcdef";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    return out;
  };
  const std::string bytes = flow["outer"]["bytes"];
  const json& hops = flow["hops"];
  ASSERT_EQ(hops.size(), 3U);
  ASSERT_EQ(bytes.size(), 2 * (20U + 8 + 8 + 8));
  EXPECT_EQ(bytes.substr(0, 20), "45000054000040004011");  // 84 bytes in all, DF, TTL 64, UDP
  EXPECT_EQ(bytes.substr(24, 16), "c0000201" + hex_address(hops[0]));
  char port[5];
  std::snprintf(port, sizeof port, "%04x", static_cast<unsigned>(0xc000 | hash >> 50));
  EXPECT_EQ(bytes.substr(40, 16), port + std::string("4c43") + "00400000");
  EXPECT_EQ(bytes.substr(56), "0304000000000002" + hex_address(hops[1]) + hex_address(hops[2]));
}

TEST(Read, ExplainSaysWhyAStandInTakesTheRow) {
  FakeDirector director;
  const std::string line = "explain tcp 198.51.100.7:40000 203.0.113.10:443";
  const std::string holder = (*director(line))["seat"]["backend"];
  ASSERT_TRUE(director("backend drain web " + holder));
  const json flow = *director(line);
  EXPECT_EQ(flow["seat"]["backend"], holder);
  EXPECT_NE(flow["hops"][0]["backend"], holder);
  const std::string why = flow["hops"][0]["why"];
  EXPECT_NE(why.find(holder + " is draining"), std::string::npos) << why;
  EXPECT_NE(why.find("stand-in"), std::string::npos) << why;
  EXPECT_EQ(flow["hops"][1]["backend"], holder);
  EXPECT_NE(flow["hops"][1]["why"].get<std::string>().find("established flows"), std::string::npos);
}

TEST(Read, ExplainOfWhatIsNoServiceSaysSo) {
  FakeDirector director;
  const json elsewhere = *director("explain tcp 198.51.100.7:40000 192.0.2.77:443");
  EXPECT_TRUE(elsewhere["service"].is_null());
  EXPECT_NE(elsewhere["verdict"].get<std::string>().find("kernel"), std::string::npos);
  const json port = *director("explain udp 198.51.100.7:40000 203.0.113.10:443");
  EXPECT_TRUE(port["service"].is_null());
  EXPECT_FALSE(director("explain tcp 198.51.100.7:40000 [2001:db8::10]:443"));
}

TEST(Read, ExplainWhenNobodyTakesNewFlows) {
  FakeDirector director;
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(director("backend drain --force web web-" + std::to_string(i)));
  const json flow = *director("explain tcp 198.51.100.7:40000 203.0.113.10:443");
  EXPECT_EQ(flow["takes_new_flows"], false);
  EXPECT_NE(flow["verdict"].get<std::string>().find("nobody takes new flows"), std::string::npos);
  FakeDirector empty;
  ASSERT_TRUE(empty("service add odd 203.0.113.11 spare"));
  const json none = *empty("explain tcp 198.51.100.7:40000 203.0.113.11:443");
  EXPECT_TRUE(none["hops"].empty());
  EXPECT_TRUE(none["seat"].is_null());
  EXPECT_TRUE(none["outer"].is_null());
}

TEST(Read, BackendsShowSharesAndTheFlowsLeftOfThoseThatDrain) {
  FakeDirector director;
  director.live_side.flows["web-1"] = {.open = 17, .closing = 4};
  EXPECT_FALSE((*director("backend list"))["backends"][0].contains("live_flows"));
  ASSERT_TRUE(director("backend drain web web-1"));
  const json list = *director("backend list web");
  EXPECT_EQ(list["backends"][0]["live_flows"], 17);
  EXPECT_EQ(list["backends"][0]["closing_flows"], 4);
  EXPECT_EQ(list["backends"][0]["first_rows"], 0);
  EXPECT_NEAR(list["backends"][0]["seats"].get<int>(), 1009 / 3, 1);
  const std::string text = text_of("backend list", list);
  EXPECT_NE(text.find("FLOWS LEFT"), std::string::npos) << text;
  EXPECT_NE(text.find("draining"), std::string::npos) << text;
}

TEST(Read, FlowsThatAreInNoTableAreTold) {
  FakeDirector director;
  ASSERT_TRUE(director("backend drain web web-1"));
  EXPECT_EQ((*director("status"))["unseen_flows"], (json{{"backends", 0}, {"longest", nullptr}}));
  EXPECT_NE(text_of("pool show web", *director("pool show web")).find("flow table"), std::string::npos);
  director.live_side.flows["web-1"] = {
      .open = 17, .unseen = UnseenFlows{Unseen::table_on, std::chrono::seconds(5), std::chrono::minutes(10)}};
  director.live_side.flows["web-2"] = {
      .unseen = UnseenFlows{Unseen::strangers, std::chrono::seconds(1), std::chrono::minutes(14)}};

  const json list = *director("backend list web");
  EXPECT_EQ(list["backends"][0]["unseen_flows"]["why"], "table_on");
  EXPECT_EQ(list["backends"][0]["unseen_flows"]["ago_ms"], 5000);
  EXPECT_EQ(list["backends"][1]["unseen_flows"]["known_in_ms"], 14 * 60'000);
  EXPECT_TRUE(list["backends"][2]["unseen_flows"].is_null());
  const std::string text = text_of("backend list", list);
  EXPECT_NE(text.find("17 or more"), std::string::npos) << text;
  EXPECT_NE(
      text.find("web-1 may have flows that nobody here has counted: the pool's flow table was turned on"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("web-2 may"), std::string::npos) << "nobody waits for it";
  const std::string pool = text_of("pool show web", *director("pool show web"));
  EXPECT_NE(
      pool.find("on; 2 backends may have flows in none: connections that this director did not see begin"),
      std::string::npos)
      << pool;
  const json status = *director("status");
  EXPECT_EQ(status["unseen_flows"]["backends"], 2);
  EXPECT_EQ(status["unseen_flows"]["longest"]["why"], "strangers");
  EXPECT_NE(text_of("status", status).find("2 backends may have some in no flow table"), std::string::npos);
}

TEST(Read, WhatAFlowAndARowTakeIsTold) {
  FakeDirector director;
  const json status = *director("status");
  EXPECT_EQ(status["memory_bytes"], 64 << 20);
  EXPECT_EQ(status["flow_tables"], (json{{"flows", 1 << 20}, {"bytes", 16 << 20}, {"bytes_each", 16.0}}));
  EXPECT_EQ(status["tables"], (json{{"rows", 1260}, {"bytes", 10080}, {"bytes_each", 8.0}}));
  EXPECT_NE(
      text_of("status", status)
          .find("64 MiB in use, in it tables 9 KiB for 1,260 rows (8 bytes each); flow tables take up to "
                "16 MiB for 1,048,576 flows (16 bytes each), as flows come"),
      std::string::npos)
      << text_of("status", status);

  // Before the first version, and with what a vector reserved beyond its rows.
  director.live_side.used = {1 << 20, 64, 1024, 0, 0};
  EXPECT_EQ((*director("status"))["tables"]["bytes_each"], 0);
  director.live_side.used = {1 << 20, 64, 1024, 1000, 12000};
  EXPECT_NE(text_of("status", *director("status")).find("1,000 rows (12 bytes each)"), std::string::npos);
}

TEST(Read, ServicesThatAPortCannotTakeAreAnAlarm) {
  FakeDirector director;
  director.live_side.port_reports.emplace_back();
  PortReport& port = director.live_side.port_reports.back();
  port.name = "wan";
  port.steered = SteeredPackets{};
  const auto alarms = [&] { return (*director("status"))["alarms"].dump(); };
  EXPECT_EQ(alarms().find("port wan"), std::string::npos);
  port.steered->services_left_out = 2;
  EXPECT_NE(alarms().find("port wan: 2 services are not in its XDP program's list"), std::string::npos)
      << alarms();
  EXPECT_EQ((*director("status"))["ports"][0]["steered"]["services_left_out"], 2);
}

TEST(Read, HealthByHandIsShownAndTakenBack) {
  FakeDirector director;
  const auto set = director("health set web web-2 down");
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)["override"], "down");
  EXPECT_NE(text_of("health set web web-2 down", *set).find("or until guidewayd restarts"), std::string::npos)
      << "nothing keeps it";
  const json list = *director("health");
  ASSERT_EQ(list["backends"].size(), 1U);
  EXPECT_EQ(list["backends"][0]["health"], "down");
  EXPECT_NE(text_of("health", list).find("LAST ERROR"), std::string::npos);
  ASSERT_TRUE(director("health set web web-2 auto"));
  EXPECT_TRUE((*director("health"))["backends"].empty());
}

TEST(Read, StatsCountDropsByTheirReason) {
  FakeDirector director;
  director.live_side.report.packets_in = 12;
  director.live_side.report.packets[static_cast<std::size_t>(Verdict::forward)] = 10;
  director.live_side.report.packets[static_cast<std::size_t>(Verdict::drop_loop)] = 2;
  const json stats = *director("stats");
  EXPECT_EQ(stats["verdicts"]["forward"]["packets"], 10);
  EXPECT_EQ(stats["drops"]["loop"]["packets"], 2);
  EXPECT_EQ(stats["verdicts"].size() + stats["drops"].size(), verdict_count);
  const std::string text = text_of("stats", stats);
  EXPECT_NE(text.find("dropped: loop"), std::string::npos);
  EXPECT_EQ(text.find("bad_l4"), std::string::npos) << "a reason that did not occur:\n" << text;
}

TEST(Read, EveryScreenOfAnEmptySiteSaysSo) {
  FakeDirector director{Site{}};
  for (const std::string line :
       {"service list", "pool list", "backend list", "health", "status", "stats", "table digest"}) {
    const auto answer = director(line);
    ASSERT_TRUE(answer) << line << ": " << answer.error().text();
    EXPECT_NE(text_of(line, *answer).find("no "), std::string::npos) << line << ":\n"
                                                                     << text_of(line, *answer);
  }
}

TEST(Read, EveryScreenIsAlignedTextWithoutColours) {
  FakeDirector director;
  director.live_side.port_reports.push_back(
      {"wan", "af_packet:eth0", "net_af_packet", "eth0", {}, true, 1500, 1});
  director.live_side.next_hop_reports.push_back({"10.0.1.11", {}, "no route"});
  for (const std::string line :
       {"service list", "service show www", "pool list", "pool show web", "backend list", "status", "stats",
        "table show web", "table digest", "table diff web", "site export",
        "explain tcp 198.51.100.7:40000 203.0.113.10:443"}) {
    const auto epoch = director.store.current().epoch;
    const auto answer = director(line);
    ASSERT_TRUE(answer) << line << ": " << answer.error().text();
    const std::string text = text_of(line, *answer);
    EXPECT_TRUE(text.ends_with('\n')) << line;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << line;
    EXPECT_EQ(text.find(" \n"), std::string::npos) << line << " has blanks at an end of line:\n" << text;
    EXPECT_EQ(director.store.current().epoch, epoch) << line << " changed something";
  }
}

TEST(Read, WhatOnlyADirectorKnowsIsRefusedWithoutOne) {
  FakeDirector director;
  director.alive = false;
  for (const std::string line : {"status", "stats", "health", "health set web web-1 up"}) {
    const auto answer = director(line);
    ASSERT_FALSE(answer) << line;
    EXPECT_NE(answer.error().next.find("--site"), std::string::npos) << line;
  }
  EXPECT_TRUE(director("backend list"));
}

}  // namespace
}  // namespace guideway
