// Health verdicts against real sockets on loopback: servers that answer, refuse, hang, drip and lie.
#include "control/health.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "health_fixture.h"

namespace guideway {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

TEST_F(HealthTest, AnswersAreJudged) {
  const struct {
    const char* what;
    TestServer::Talk talk;
    HealthCheckType type;
    Health verdict;
    const char* error;
  } cases[] = {
      {"200", answer(http(200)), HealthCheckType::http, Health::up, ""},
      {"204 without a body", answer("HTTP/1.1 204 No Content\r\n\r\n"), HealthCheckType::http, Health::up,
       ""},
      {"HTTP/1.0 without a length", answer("HTTP/1.0 200 OK\r\n\r\nfine"), HealthCheckType::http, Health::up,
       ""},
      {"503", answer(http(503)), HealthCheckType::http, Health::down, "HTTP 503"},
      {"a redirect is not followed",
       answer("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"),
       HealthCheckType::http, Health::down, "HTTP 302"},
      {"slow, but in time",
       [](int connection, const std::string&, const std::atomic<bool>&) {
         std::this_thread::sleep_for(100ms);
         say(connection, http(200));
       },
       HealthCheckType::http, Health::up, ""},
      {"hangs", hang, HealthCheckType::http, Health::down, "timed out after 1500ms"},
      {"closes", [](int, const std::string&, const std::atomic<bool>&) {}, HealthCheckType::http,
       Health::down, "closed without an answer"},
      {"garbage", answer("\x16\x03\x01\0\xff garbage\r\n\r\n"s), HealthCheckType::http, Health::down,
       "the answer is not HTTP"},
      {"an endless body is cut, the status counts",
       endless("HTTP/1.1 200 OK\r\n\r\n", std::string(8192, 'x')), HealthCheckType::http, Health::up, ""},
      {"an endless body of an error page", endless("HTTP/1.1 500 Oh\r\n\r\n", std::string(8192, 'x')),
       HealthCheckType::http, Health::down, "HTTP 500"},
      {"endless headers", endless("HTTP/1.1 200 OK\r\n", "X-Pad: " + std::string(4096, 'x') + "\r\n"),
       HealthCheckType::http, Health::down, "headers of more than 65536 bytes"},
      {"a body cut short", answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfour"),
       HealthCheckType::http, Health::down, "transferred a partial file"},
      {"tcp: a connection is enough", hang, HealthCheckType::tcp, Health::up, ""},
  };
  std::vector<std::unique_ptr<TestServer>> servers;
  std::vector<HealthTarget> targets;
  for (const auto& c : cases) {
    servers.push_back(std::make_unique<TestServer>(c.talk));
    targets.push_back(target(fmt::format("b{}", targets.size()), check_of(servers.back()->port, c.type)));
  }
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(5s));
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(cases[i].what);
    const auto seen = report(targets[i].backend);
    EXPECT_EQ(seen.verdict, cases[i].verdict);
    EXPECT_EQ(seen.last_error, cases[i].error);
  }
  checker_.reset();
}

TEST_F(HealthTest, ARefusedConnectionIsDownInBothTypesAndFamilies) {
  const std::uint16_t port = closed_port();
  checker_->update({target("http", check_of(port)), target("tcp", check_of(port, HealthCheckType::tcp)),
                    target("six", check_of(port), "::1")});
  ASSERT_TRUE(checker_->wait_ready(5s));
  for (const char* name : {"http", "tcp", "six"}) {
    EXPECT_EQ(report(name).verdict, Health::down) << name;
    EXPECT_EQ(report(name).last_error, "connection refused") << name;
  }
}

TEST_F(HealthTest, TheRequestSaysHostAndPath) {
  std::mutex mutex;
  std::vector<std::string> requests;
  const auto keep = [&](int connection, const std::string& request, const std::atomic<bool>&) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
    say(connection, http(200));
  };
  TestServer four(keep), six(keep, "::1");
  HealthCheck named = check_of(four.port);
  named.host = "www.example.org";
  named.path = "/a/../b?c=d";
  checker_->update({target("a", named), target("b", check_of(six.port), "::1")});
  ASSERT_TRUE(checker_->wait_ready(5s));
  checker_.reset();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(requests, testing::Contains(testing::AllOf(HasSubstr("GET /a/../b?c=d HTTP/1.1\r\n"),
                                                         HasSubstr("Host: www.example.org\r\n"))));
  EXPECT_THAT(requests,
              testing::Contains(testing::AllOf(HasSubstr("GET /healthz HTTP/1.1\r\n"),
                                               HasSubstr(fmt::format("Host: [::1]:{}\r\n", six.port)))));
}

TEST_F(HealthTest, AHostOrPathCannotSmuggleASecondHeader) {
  std::mutex mutex;
  std::string seen;
  TestServer server([&](int connection, const std::string& request, const std::atomic<bool>&) {
    const std::lock_guard lock(mutex);
    seen += request;
    say(connection, http(200));
  });
  HealthCheck host = check_of(server.port), path = host;
  host.host = "a\r\nX-Evil: 1";
  path.path = "/\r\nX-Evil: 1";
  checker_->update({target("host", host), target("path", path)});
  ASSERT_TRUE(checker_->wait_ready(5s));
  EXPECT_EQ(report("path").verdict, Health::down);
  checker_.reset();
  const std::lock_guard lock(mutex);
  EXPECT_THAT(seen, Not(HasSubstr("X-Evil")));
}

TEST_F(HealthTest, FallAndRiseTakeTheirNumberOfChecks) {
  Switchable backend;
  checker_->update({target("b", check_of(backend.server.port))});
  ASSERT_TRUE(until_verdict("b", Health::up));
  int before = backend.server.accepted;
  backend.status = 503;
  ASSERT_TRUE(until_verdict("b", Health::down));
  EXPECT_THAT(backend.server.accepted - before, testing::AllOf(testing::Ge(3), testing::Le(5)));
  EXPECT_EQ(report("b").last_error, "HTTP 503");
  before = backend.server.accepted;
  backend.status = 200;
  ASSERT_TRUE(until_verdict("b", Health::up));
  EXPECT_THAT(backend.server.accepted - before, testing::AllOf(testing::Ge(2), testing::Le(4)));
  EXPECT_LT(report("b").since_change, 1s);
}

TEST_F(HealthTest, FlapsBelowFallAndRiseChangeNothing) {
  std::atomic<int> count{0};
  TestServer server([&](int connection, const std::string&, const std::atomic<bool>&) {
    const int turn = count++;  // one good, then two bad for one good
    say(connection, http(turn % 3 == 0 ? 200 : 503));
  });
  checker_->update({target("b", check_of(server.port))});
  ASSERT_TRUE(until_verdict("b", Health::up));
  ASSERT_TRUE(until([&] { return count > 15; }));
  EXPECT_EQ(report("b").verdict, Health::up);
  EXPECT_EQ(calls().size(), 1U) << "unknown to up, nothing since";
}

TEST_F(HealthTest, AnOverrideStandsAboveTheChecks) {
  Switchable backend;
  checker_->update({target("b", check_of(backend.server.port))});
  ASSERT_TRUE(until_verdict("b", Health::up));
  ASSERT_TRUE(checker_->set_override("web", "b", Health::down));
  EXPECT_EQ(report("b").verdict, Health::down);
  EXPECT_EQ(report("b").checked, Health::up);
  EXPECT_EQ(checker_->view()->at("web").at("b"), Health::down);
  ASSERT_TRUE(until([&] { return calls().size() == 2; })) << "told as any other change";
  EXPECT_EQ(calls().back().at(0).reason, "set by hand");
  ASSERT_TRUE(checker_->set_override("web", "b", Health::up));
  backend.status = 503;
  ASSERT_TRUE(until([&] { return report("b").checked == Health::down; }));
  EXPECT_EQ(report("b").verdict, Health::up);
  ASSERT_TRUE(checker_->set_override("web", "b", std::nullopt));
  EXPECT_EQ(report("b").verdict, Health::down);
  const auto refused = checker_->set_override("web", "nobody", Health::up);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
}

TEST_F(HealthTest, AnUpdateDisturbsOnlyWhatItChanges) {
  Switchable kept, moved;
  const std::uint16_t refused = closed_port();
  const auto keep = target("kept", check_of(kept.server.port));
  checker_->update({keep, target("moved", check_of(moved.server.port)), target("dead", check_of(refused))});
  ASSERT_TRUE(checker_->wait_ready(5s));
  EXPECT_EQ(report("dead").verdict, Health::down);
  const auto since = report("kept").since_change;
  for (int i = 0; i < 200; ++i) {  // under load, and faster than the checks
    auto check = check_of(moved.server.port);
    check.fall = 3 + static_cast<unsigned>(i) % 2;
    auto targets = std::vector{keep, target("moved", check)};
    if (i % 2) targets.push_back(target("dead", check_of(refused)));
    checker_->update(targets);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GT(report("kept").since_change, since + 150ms) << "never restarted";
  EXPECT_EQ(report("moved").verdict, Health::up) << "a new check keeps the verdict";
  const int before = kept.server.accepted;
  EXPECT_TRUE(until([&] { return kept.server.accepted > before + 2; })) << "still checked";
  checker_->update({keep, target("moved", check_of(refused), "127.0.0.2")});
  EXPECT_EQ(report("moved").verdict, Health::unknown) << "another server";
  ASSERT_TRUE(until_verdict("moved", Health::down));
  checker_->update({keep, target("moved", HealthCheck{}, "127.0.0.2")});
  EXPECT_EQ(report("moved").verdict, Health::unknown) << "no check, no verdict";
  EXPECT_TRUE(checker_->ready());
  EXPECT_EQ(checker_->view()->at("web").size(), 2U);
}

TEST_F(HealthTest, APoolThatFailsAsAWholeRaisesAnAlarm) {
  Switchable backend;
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 3; ++i) targets.push_back(target(fmt::format("b{}", i), check_of(backend.server.port)));
  Switchable pair;
  for (int i = 0; i < 2; ++i)
    targets.push_back(target(fmt::format("p{}", i), check_of(pair.server.port), "127.0.0.1", "pair"));
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(5s));
  EXPECT_THAT(checker_->alarms(), testing::IsEmpty());
  backend.status = 503;
  pair.status = 503;
  ASSERT_TRUE(until([&] { return !checker_->alarms().empty(); }));
  ASSERT_TRUE(until_verdict("p0", Health::down) && until_verdict("p1", Health::down));
  EXPECT_THAT(checker_->alarms(), testing::ElementsAre("web")) << "two are too few to tell";
  EXPECT_TRUE(report("b0").pool_alarm);
  EXPECT_FALSE(report("p0").pool_alarm);
  backend.status = 200;
  ASSERT_TRUE(until([&] { return checker_->alarms().empty(); }));
}

TEST_F(HealthTest, BackendsThatDieOneByOneRaiseNoAlarm) {
  std::vector<std::unique_ptr<Switchable>> backends;
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 3; ++i) {
    backends.push_back(std::make_unique<Switchable>());
    targets.push_back(target(fmt::format("b{}", i), check_of(backends.back()->server.port)));
  }
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(5s));
  for (int i = 0; i < 3; ++i) {
    backends[static_cast<std::size_t>(i)]->status = 503;
    ASSERT_TRUE(until_verdict(fmt::format("b{}", i), Health::down));
    std::this_thread::sleep_for(1700ms);  // more than interval and timeout
  }
  EXPECT_THAT(checker_->alarms(), testing::IsEmpty());
}

}  // namespace
}  // namespace guideway
