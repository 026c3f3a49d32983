// Commands that change the site: what they do, what they answer, what they refuse, and how it reads.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_director.h"
#include "state/site_file.h"

namespace guideway {
namespace {

using nlohmann::json;

const Backend* backend(const FakeDirector& director, const std::string& name) {
  for (const Backend& one : director.store.current().site.find_pool("web")->backends) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

TEST(Change, DrainMovesTheBackendsRowsAndAnswersWithThem) {
  FakeDirector director;
  const auto answer = director("backend drain web web-1");
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ((*answer)["result"], "done");
  EXPECT_EQ((*answer)["epoch"], 2);
  EXPECT_EQ((*answer)["seats_moved"], 0);
  const auto moved = (*answer)["rows_moved"].get<int>();
  EXPECT_GE(moved, 1009 / 3);
  EXPECT_LE(moved, 1009 / 3 + 1);
  EXPECT_EQ(backend(director, "web-1")->state, BackendState::draining);
  const std::string text = text_of("backend drain web web-1", *answer);
  EXPECT_NE(text.find("backend web-1 is draining (was active)"), std::string::npos) << text;
  EXPECT_NE(text.find("done, epoch 2"), std::string::npos) << text;
}

TEST(Change, TwiceIsANoOp) {
  for (const std::string verb : {"drain", "disable", "undrain", "enable"}) {
    FakeDirector director;
    const std::string line = "backend " + verb + " web web-1" + (verb == "disable" ? " --force" : "");
    ASSERT_TRUE(director(line)) << line;
    const auto epoch = director.store.current().epoch;
    const auto again = director(line);
    ASSERT_TRUE(again) << line;
    EXPECT_EQ((*again)["result"], "unchanged") << line;
    EXPECT_EQ(director.store.current().epoch, epoch) << line;
    EXPECT_NE(text_of(line, *again).find("nothing to do"), std::string::npos);
  }
}

TEST(Change, UndrainBringsTheRowsBack) {
  FakeDirector director;
  const json before = *director("table show web");
  ASSERT_TRUE(director("backend drain web web-2"));
  EXPECT_NE(*director("table show web"), before);
  ASSERT_TRUE(director("backend undrain web web-2"));
  EXPECT_EQ(*director("table show web"), before);
}

TEST(Change, EnableDoesNotEndADrain) {
  FakeDirector director;
  ASSERT_TRUE(director("backend drain web web-1"));
  const auto refused = director("backend enable web web-1");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("backend undrain web web-1"), std::string::npos)
      << refused.error().text();
  ASSERT_TRUE(director("backend disable web web-1"));
  EXPECT_FALSE(director("backend undrain web web-1"));
}

TEST(Change, ADrainDoesNotEndTheHardStop) {
  FakeDirector director;
  ASSERT_TRUE(director("backend disable web web-1 --force"));
  const auto refused = director("backend drain web web-1");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("`backend enable web web-1`"), std::string::npos)
      << refused.error().text();
  EXPECT_EQ(backend(director, "web-1")->state, BackendState::disabled);
}

TEST(Change, ADrainingBackendWithLiveFlowsAsksForForce) {
  for (const std::string verb : {"remove", "disable"}) {
    FakeDirector director;
    ASSERT_TRUE(director("backend drain web web-1"));
    director.live_side.flows["web-1"] = {4, 2};
    const std::string line = "backend " + verb + " web web-1";
    const json plan = *director("plan " + line);
    EXPECT_EQ(plan["needs_force"], true) << line;
    EXPECT_EQ(plan["pools"][0]["drained"],
              (json{{{"name", "web-1"}, {"live_flows", 4}, {"unseen_flows", nullptr}}}))
        << line;
    EXPECT_NE(text_of(line, plan).find("still has 4 live flows"), std::string::npos) << text_of(line, plan);
    const auto refused = director(line);
    ASSERT_FALSE(refused) << line;
    EXPECT_NE(refused.error().text().find("`guideway backend drain web web-1 --wait`"), std::string::npos)
        << refused.error().text();
    director.live_side.flows["web-1"] = {0, 2};
    const auto done = director(line);
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_NE(text_of(line, *done).find("warning: web-1 of pool \"web\" has no live flows here"),
              std::string::npos)
        << text_of(line, *done);
  }
}

TEST(Change, WhatEndsNewFlowsAsksForForceAndIsAnAlarm) {
  FakeDirector director;
  ASSERT_TRUE(director("backend drain web web-1"));
  ASSERT_TRUE(director("backend drain web web-2"));
  const auto refused = director("backend drain web web-3");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("would take no new flows"), std::string::npos)
      << refused.error().text();
  EXPECT_EQ((*director("status"))["alarms"].size(), 0U);
  const auto done = director("backend drain web web-3 --force");
  ASSERT_TRUE(done);
  EXPECT_NE(text_of("backend drain web web-3", *done).find("rows take no new flows any more"),
            std::string::npos)
      << text_of("backend drain web web-3", *done);
  for (const std::string line : {"status", "backend list", "backend list web", "pool show web",
                                 "explain tcp 198.51.100.7:40000 203.0.113.10:80"}) {
    const json answer = *director(line);
    EXPECT_NE(text_of(line, answer).find("alarm: pool web: takes no new flows: no backend is active"),
              std::string::npos)
        << text_of(line, answer);
  }
}

TEST(Change, NobodyHealthyIsAnAlarm) {
  FakeDirector director;
  for (const std::string i : {"1", "2", "3"}) ASSERT_TRUE(director("health set web web-" + i + " down"));
  EXPECT_EQ((*director("status"))["alarms"],
            (json{"pool web: nobody is healthy: all take new flows (none_healthy = all)"}));
}

TEST(Change, L2DoesNotReachBehindARouter) {
  FakeDirector director;
  for (const std::string i : {"1", "2", "3"}) {
    NextHop next_hop{NextHop::State::resolved, 0, {2, 0, 0, 0, 0, 1}, i == "2"};
    director.live_side.next_hop_reports.push_back({"10.0.1.1" + i, next_hop, "port lan"});
  }
  EXPECT_EQ((*director("status"))["alarms"].size(), 0U);
  const std::string l2 =
      "[[pool]]\nname = \"web\"\nencapsulation = \"l2\"\n[[pool.backend]]\nname = \"web-2\"\n"
      "address = \"10.0.1.12\"\n[[service]]\nname = \"www\"\naddress = \"203.0.113.10\"\n"
      "protocol = \"tcp\"\nports = [80]\npool = \"web\"\n";
  ASSERT_TRUE(director("apply site.toml --force", l2));
  EXPECT_EQ((*director("status"))["alarms"],
            (json{"pool web: web-2 is behind a router, where l2 does not reach; use gue, ipip or gre"}));
}

TEST(Change, RemovedServicesAndAnEmptyFileAskForForce) {
  FakeDirector director;
  const auto removed = director("service remove www");
  ASSERT_FALSE(removed);
  EXPECT_NE(removed.error().text().find("service \"www\": all connections would end"), std::string::npos)
      << removed.error().text();
  const auto emptied = director("apply site.toml", "hash_seed = 7\n");
  ASSERT_FALSE(emptied);
  EXPECT_NE(emptied.error().text().find("names no service and no pool"), std::string::npos);
  EXPECT_EQ((*director("plan apply site.toml", "hash_seed = 7\n"))["needs_force"], true);
  ASSERT_TRUE(director("service remove www --force"));
  ASSERT_TRUE(director("undo")) << "what comes back cuts nothing";
  ASSERT_TRUE(director("apply site.toml --force", "hash_seed = 7\n"));
  const auto warned = director("check site.toml", "hash_seed = 7\n");
  ASSERT_TRUE(warned);
  EXPECT_NE(text_of("check site.toml", *warned).find("no services: nothing would be served"),
            std::string::npos);
}

TEST(Change, PoolsThatComeGoOrGetOtherRowsAreToldAsSuch) {
  FakeDirector director;
  const std::string add = "pool add more --rows 251";
  EXPECT_NE(text_of(add, *director(add)).find("pool more: new, 251 rows, nobody takes new flows"),
            std::string::npos);
  Site site = director.store.current().site;
  site.pools.edit(0).rows = 251;
  const json plan = *director("plan apply site.toml", print_site(site));
  EXPECT_NE(text_of("apply site.toml", plan).find("pool web: 251 rows instead of 1,009, all dealt anew"),
            std::string::npos)
      << text_of("apply site.toml", plan);
  EXPECT_NE(
      text_of("pool remove more", *director("pool remove more")).find("pool more: goes with its 251 rows"),
      std::string::npos);
}

TEST(Change, PlanSaysPerBackendAndDoesNothing) {
  FakeDirector director;
  const auto plan = director("plan backend add web web-4 10.0.1.14 --weight 300");
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ((*plan)["result"], "planned");
  EXPECT_EQ((*plan)["epoch"], 2);
  EXPECT_EQ(director.store.current().epoch, Epoch{1});
  const json& moves = (*plan)["pools"][0]["backends"];
  ASSERT_EQ(moves.size(), 4U);
  int won = 0, lost = 0;
  for (const json& one : moves) {
    won += one["rows_won"].get<int>();
    lost += one["rows_lost"].get<int>();
  }
  EXPECT_EQ(won, lost);
  EXPECT_EQ(won, (*plan)["rows_moved"]);
  EXPECT_NEAR(won, 1009 / 2, 1);
  const std::string text = text_of("backend add web web-4 10.0.1.14", *plan);
  for (const char* part :
       {"nothing has been done", "web-4", "ROWS WON", "breaks nothing", "would be at epoch 2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  // What was planned is what happens.
  json done = *director("backend add web web-4 10.0.1.14 --weight 300");
  EXPECT_EQ(done["pools"], (*plan)["pools"]);
}

TEST(Change, RemovingALiveBackendAsksForForce) {
  FakeDirector director;
  const auto plan = director("plan backend remove web web-1");
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)["needs_force"], true);
  EXPECT_NE(text_of("backend remove web web-1", *plan).find("--force"), std::string::npos);
  const auto refused = director("backend remove web web-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::refused);
  for (const char* part : {"rows", "web-1", "--force"}) {
    EXPECT_NE(refused.error().text().find(part), std::string::npos) << refused.error().text();
  }
  EXPECT_EQ(director.store.current().epoch, Epoch{1});
  EXPECT_TRUE(director("backend remove web web-1 --force"));
  EXPECT_EQ(backend(director, "web-1"), nullptr);
}

TEST(Change, ServicesAndPoolsComeAndGo) {
  FakeDirector director;
  ASSERT_TRUE(director("pool add dns --rows 251 --affinity client --health tcp:53 --flow-table off"));
  ASSERT_TRUE(director("backend add dns d-1 10.0.2.1"));
  ASSERT_TRUE(director("service add dns 203.0.113.53 dns --protocol udp --ports 53"));
  const Pool& pool = *director.store.current().site.find_pool("dns");
  EXPECT_EQ(pool.affinity, Affinity::client);
  EXPECT_EQ(pool.health.type, HealthCheckType::tcp);
  EXPECT_FALSE(pool.flow_table);
  EXPECT_EQ(director.store.current().site.find_service("dns")->protocol, 17);
  const json list = *director("service list");
  EXPECT_EQ(list["services"].size(), 2U);
  const auto used = director("pool remove dns");
  ASSERT_FALSE(used);
  EXPECT_NE(used.error().text().find("dns"), std::string::npos);
  ASSERT_TRUE(director("service remove dns --force"));
  EXPECT_TRUE(director("pool remove dns --force"));
  EXPECT_EQ(director.store.current().site.find_pool("dns"), nullptr);
}

TEST(Change, ApplyIsOneChangeAndUndoTakesItBack) {
  FakeDirector director;
  const Site before = director.store.current().site;
  Site after = before;
  after.pools.edit(0).backends.push_back({"web-4", ip("10.0.1.14")});
  after.pools.edit(0).backends[0].weight = 50;
  const auto answer = director("apply site.toml", print_site(after));
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ((*answer)["epoch"], 2);
  EXPECT_EQ((*answer)["changes"], (json{"pool web: backend web-1 has weight 50 (had 100)",
                                        "pool web: backend web-4 added (10.0.1.14, weight 100, active)"}));
  EXPECT_EQ(director.store.current().site, after);
  const auto planned = director("plan undo");
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_EQ((*planned)["result"], "planned");
  EXPECT_EQ(director.store.current().epoch, Epoch{2});
  ASSERT_TRUE(director("undo --force"));
  EXPECT_EQ(director.store.current().site, before);
  EXPECT_EQ(director.store.current().epoch, Epoch{3});
}

TEST(Change, ExportAppliesBackAsNoChange) {
  FakeDirector director;
  const json exported = *director("site export");
  const auto answer = director("apply site.toml", exported["site"].get<std::string>());
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)["result"], "unchanged");
  EXPECT_EQ(exported["seatings"]["web"]["holder"].size(), 1009U);
}

TEST(Change, SettingsAreToldByNameWithBothValues) {
  FakeDirector director;
  Site site = director.store.current().site;
  site.pools.edit(0).flow_table = false;
  site.pools.edit(0).timeouts.udp_ms = 5000;
  const json changes = (*director("plan apply site.toml", print_site(site)))["changes"];
  const auto has = [&changes](const char* sentence) {
    return std::find(changes.begin(), changes.end(), sentence) != changes.end();
  };
  EXPECT_TRUE(has("pool web: flow_table is false (was true)")) << changes;
  EXPECT_TRUE(has("pool web: timeouts.udp is 5s (was 1m)")) << changes;
  EXPECT_EQ(changes.size(), 2U) << changes;
}

TEST(Change, ABackendThatNobodyHasCheckedIsNoted) {
  const auto notes = [](HealthCheckType type, Health initial, const std::string& line) {
    Site site = small_site();
    for (std::size_t i = 0; i < site.pools.size(); ++i) {
      site.pools.edit(i).health.type = type;
      site.pools.edit(i).health.port = 80;
      site.pools.edit(i).health.initial = initial;
    }
    FakeDirector director(site);
    const auto answer = director(line);
    EXPECT_TRUE(answer) << answer.error().text();
    return answer ? answer->at("notes").dump() : std::string();
  };
  const std::string add = "backend add web web-9 10.0.1.19", said = "takes new flows at once";
  EXPECT_NE(notes(HealthCheckType::tcp, Health::up, add).find(said), std::string::npos);
  EXPECT_NE(notes(HealthCheckType::tcp, Health::up, "plan " + add).find(said), std::string::npos);
  EXPECT_EQ(notes(HealthCheckType::tcp, Health::down, add).find(said), std::string::npos);
  EXPECT_EQ(notes(HealthCheckType::none, Health::up, add).find(said), std::string::npos);
  EXPECT_EQ(notes(HealthCheckType::tcp, Health::up, add + " --state draining").find(said), std::string::npos);
}

TEST(Change, AnAgentsFileIsNotChecked) {
  FakeDirector director;
  const auto answer = director("check agent.toml", "# an agent\ndirectors = [\"10.0.0.2\"]\n");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().text().find("guideway-agent reads it"), std::string::npos)
      << answer.error().text();
}

TEST(Change, UndoSaysThatItIsItsOwnUndo) {
  FakeDirector director;
  ASSERT_TRUE(director("backend drain web web-1"));
  const json undone = *director("undo");
  EXPECT_NE(text_of("undo", undone).find("note: undo again brings back"), std::string::npos)
      << text_of("undo", undone);
}

struct RefusedChange {
  const char* line;
  ErrorKind kind;
  const char* part;
};

TEST(Change, RefusalsLeaveTheSiteAlone) {
  const RefusedChange cases[] = {
      {"backend drain wbe web-1", ErrorKind::not_found, "did you mean \"web\"?"},
      {"backend drain web web-9", ErrorKind::not_found, "web-9"},
      {"backend drain web wbe-1", ErrorKind::not_found, "did you mean \"web-1\"?"},
      {"backend drain spare web-1", ErrorKind::not_found, "backend add spare NAME ADDRESS"},
      {"backend add web web-9 fd00::9", ErrorKind::invalid, "web"},
      {"backend add web web-9 10.0.1.11", ErrorKind::invalid, "10.0.1.11"},
      {"backend drain web web-1 --expect-epoch 77", ErrorKind::stale, "epoch 77"},
      {"plan backend drain web web-1 --expect-epoch 77", ErrorKind::stale, "epoch 77"},
      {"undo --expect-epoch 77", ErrorKind::stale, "epoch 77"},
      {"health set web web-1 down --expect-epoch 77", ErrorKind::stale, "epoch 77"},
      {"plan health set web web-1 down", ErrorKind::refused, "no plan"},
      {"undo", ErrorKind::refused, "no version before"},
      {"service remove wwww", ErrorKind::not_found, "did you mean \"www\"?"},
      {"service add more 203.0.113.9 nosuch", ErrorKind::not_found, "nosuch"},
      {"pool add odd --rows 1000", ErrorKind::usage, "1000"},
      {"pool add odd --hops 99999999999", ErrorKind::usage, "hops"},
      {"apply site.toml", ErrorKind::invalid, "site.toml:"},
  };
  for (const RefusedChange& one : cases) {
    FakeDirector director;
    const Site before = director.store.current().site;
    const auto answer = director(one.line, "pool = [[");
    ASSERT_FALSE(answer) << one.line;
    EXPECT_EQ(answer.error().kind, one.kind) << one.line << ": " << answer.error().text();
    EXPECT_NE(answer.error().text().find(one.part), std::string::npos)
        << one.line << ": " << answer.error().text();
    EXPECT_FALSE(answer.error().next.empty()) << one.line << ": no next step: " << answer.error().text();
    EXPECT_EQ(director.store.current().site, before) << one.line;
    EXPECT_EQ(director.store.current().epoch, Epoch{1}) << one.line;
  }
}

}  // namespace
}  // namespace guideway
