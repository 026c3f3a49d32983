// The API's routes: requests into commands, answers into responses, bad input of every kind.
#include "control/api_routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../command/fake_director.h"
#include "state/site_file.h"

namespace guideway {
namespace {

using nlohmann::json;

class RoutesTest : public testing::Test {
 protected:
  ApiResponse ask(ApiRequest request) {
    return answer([this](const Arguments& arguments) { return run_command(director_, arguments); }, request);
  }
  ApiResponse get(const std::string& path, const std::string& accept = {}) {
    return ask({"GET", path, accept, {}, {}});
  }
  ApiResponse post(const json& body) { return ask({"POST", "/v1/commands", {}, {}, body.dump()}); }
  FakeDirector director_;
};

TEST_F(RoutesTest, EveryResourceOfTheTableAnswers) {
  for (const std::string path : {"version", "status", "stats", "services", "services/www", "pools",
                                 "pools/web", "backends", "health", "digests", "tables/web"}) {
    const ApiResponse response = get("/v1/" + path);
    EXPECT_EQ(response.status, 200U) << path << ": " << response.body;
    EXPECT_EQ(response.type, "application/json") << path;
    EXPECT_TRUE(json::parse(response.body).is_object()) << path;
  }
  EXPECT_EQ(json::parse(get("/v1/pools/web").body), *director_("pool show web"));
}

TEST_F(RoutesTest, TheSiteComesAsTomlOrJsonWithItsEpoch) {
  const ApiResponse toml = get("/v1/site");
  EXPECT_EQ(toml.type, "application/toml");
  EXPECT_EQ(toml.etag, "\"1\"");
  EXPECT_EQ(parse_site(toml.body, "site.toml")->site, small_site());
  const ApiResponse as_json = get("/v1/site", "application/json");
  EXPECT_EQ(json::parse(as_json.body)["site"], toml.body);
}

TEST_F(RoutesTest, PutReplacesTheSiteAtTheExpectedEpoch) {
  Site next = small_site();
  next.pools.edit(0).backends[0].state = BackendState::draining;
  const std::string text = print_site(next);
  EXPECT_EQ(ask({"PUT", "/v1/site", {}, "\"7\"", text}).status, 412U);
  EXPECT_EQ(ask({"PUT", "/v1/site", {}, "seven", text}).status, 400U);
  EXPECT_EQ(ask({"PUT", "/v1/site", {}, "\"99999999999999999999\"", text}).status, 400U);
  const ApiResponse done = ask({"PUT", "/v1/site", {}, "\"1\"", text});
  EXPECT_EQ(done.status, 200U) << done.body;
  EXPECT_EQ(done.etag, "\"2\"");
  EXPECT_EQ(director_.store.current().site, next);
  EXPECT_EQ(ask({"PUT", "/v1/site", {}, "*", text}).status, 200U);
  EXPECT_EQ(ask({"PUT", "/v1/site", {}, {}, "pool = 7"}).status, 400U);
  EXPECT_EQ(ask({"PUT", "/v1/site", {}, {}, std::string("\0\xff", 2)}).status, 400U);
  EXPECT_EQ(director_.store.current().epoch, Epoch{2});
}

TEST_F(RoutesTest, CommandsAsAStringOrAsWords) {
  const ApiResponse planned = post({{"command", "backend drain web web-1"}, {"dry_run", true}});
  EXPECT_EQ(planned.status, 200U) << planned.body;
  EXPECT_EQ(json::parse(planned.body)["result"], "planned");
  EXPECT_EQ(post({{"command", {"backend", "drain", "web", "web-1"}}, {"expect_epoch", 1}}).status, 200U);
  EXPECT_EQ(director_.store.current().epoch, Epoch{2});
  EXPECT_EQ(post({{"command", "backend remove web web-2"}, {"force", true}}).status, 200U);
  EXPECT_EQ(
      post({{"command", "apply site.toml"}, {"input", print_site(small_site())}, {"force", true}}).status,
      200U);
}

struct Refused {
  const char* what;
  ApiRequest request;
  unsigned status;
  const char* part;
};

ApiRequest command(const std::string& body) { return {"POST", "/v1/commands", {}, {}, body}; }

TEST_F(RoutesTest, BadInputIsRefusedWithASentence) {
  const Refused cases[] = {
      {"no body", command(""), 400, "no JSON object"},
      {"no JSON", command("backend drain web web-1"), 400, "no JSON object"},
      {"cut JSON", command(R"({"command": "status)"), 400, "no JSON object"},
      {"a list", command("[1]"), 400, "no JSON object"},
      {"no command", command("{}"), 400, "has no \\\"command\\\""},
      {"a number for a command", command(R"({"command": 7})"), 400, "neither a string"},
      {"numbers for words", command(R"({"command": ["status", 7]})"), 400, "neither a string"},
      {"an unknown field", command(R"({"command": "status", "dryrun": true})"), 400, "dry_run"},
      {"a string for a flag", command(R"({"command": "undo", "force": "yes"})"), 400,
       "neither true nor false"},
      {"a negative epoch", command(R"({"command": "undo", "expect_epoch": -1})"), 400, "is no epoch"},
      {"a number for a file", command(R"({"command": "apply x", "input": 1})"), 400, "is no string"},
      {"a file of the daemon's", command(R"({"command": "apply /etc/shadow"})"), 400, "reads no file"},
      {"waiting", command(R"({"command": "backend drain web web-1 --wait"})"), 400, "live_flows"},
      {"an unknown command", command(R"({"command": "backend explode web web-1"})"), 400, "explode"},
      {"an open quote", command(R"({"command": "apply 'x"})"), 400, "never closed"},
      {"an unknown backend", command(R"({"command": "backend drain web wbe-1"})"), 404, "did you mean"},
      {"a stale epoch", command(R"({"command": "backend drain web web-1", "expect_epoch": 77})"), 412,
       "epoch 77"},
      {"a long command", command(R"({"command": "status"})" + std::string(2 << 20, ' ')), 400,
       "takes a file"},
      {"many values", command("[" + std::string(100000, ',') + "]"), 400, "no JSON object"},
      {"no force", command(R"({"command": "backend remove web web-1"})"), 409, "--force"},
      {"deep JSON", command(std::string(100000, '[')), 400, "no JSON object"},
      {"bytes that are no UTF-8", command("{\"command\": \"backend drain web \xff\"}"), 400,
       "no JSON object"},
      {"not of the API", {"GET", "/", {}, {}, {}}, 404, "/v1/"},
      {"an unknown resource", {"GET", "/v1/backend", {}, {}, {}}, 404, "did you mean"},
      {"a name that is none", {"GET", "/v1/pools/a%20b", {}, {}, {}}, 400, "is no name"},
      {"an unknown pool", {"GET", "/v1/pools/wbe", {}, {}, {}}, 404, "did you mean"},
      {"an empty segment", {"GET", "/v1/pools/", {}, {}, {}}, 400, "is no name"},
      {"a path upwards", {"GET", "/v1/pools/../site", {}, {}, {}}, 404, "no such resource"},
      {"a wrong method", {"DELETE", "/v1/site", {}, {}, {}}, 405, "GET, PUT"},
      {"a read by POST", {"POST", "/v1/status", {}, {}, {}}, 405, "GET"},
      {"a command by GET", {"GET", "/v1/commands", {}, {}, {}}, 405, "POST"},
  };
  for (const Refused& one : cases) {
    const ApiResponse response = ask(one.request);
    EXPECT_EQ(response.status, one.status) << one.what << ": " << response.body;
    EXPECT_NE(response.body.find(one.part), std::string::npos) << one.what << ": " << response.body;
    const json body = json::parse(response.body, nullptr, false);
    ASSERT_TRUE(body.is_object()) << one.what;
    EXPECT_FALSE(body["error"].get<std::string>().empty()) << one.what;
    EXPECT_FALSE(body["next"].get<std::string>().empty()) << one.what;
    EXPECT_EQ(director_.store.current().epoch, Epoch{1}) << one.what;
  }
}

}  // namespace
}  // namespace guideway
