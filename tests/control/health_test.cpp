// Health checks against real sockets on loopback: servers that answer, refuse, hang, drip and lie.

#include "control/health.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "control/health_probe.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

std::string http(int status, const std::string& body = "fine") {
  return fmt::format("HTTP/1.1 {} Word\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

// A server that gives every connection to `talk` on a thread of its own; a talk ends when `stopping` says so.
class Server {
 public:
  using Talk =
      std::function<void(int connection, const std::string& request, const std::atomic<bool>& stopping)>;

  explicit Server(Talk talk, const char* address = "127.0.0.1") : talk_(std::move(talk)) {
    const bool v6 = std::string_view(address).find(':') != std::string_view::npos;
    listener_ = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_storage where{};
    where.ss_family = v6 ? AF_INET6 : AF_INET;
    inet_pton(where.ss_family, address,
              v6 ? static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(where).sin6_addr)
                 : static_cast<void*>(&reinterpret_cast<sockaddr_in&>(where).sin_addr));
    socklen_t size = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&where), size), 0);
    EXPECT_EQ(listen(listener_, 4096), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
    port = ntohs(reinterpret_cast<sockaddr_in&>(where).sin_port);  // at the same place in both families
    thread_ = std::thread([this] { accept_all(); });
  }
  ~Server() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (auto& thread : talks_) thread.join();
    close(listener_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port = 0;
  std::atomic<int> accepted{0};

 private:
  void accept_all() {
    while (!stopping_) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      ++accepted;
      talks_.emplace_back([this, connection] {
        std::string request(4096, '\0');
        const ssize_t got = recv(connection, request.data(), request.size(), 0);
        request.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        talk_(connection, request, stopping_);
        close(connection);
      });
    }
  }
  Talk talk_;
  int listener_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  std::vector<std::thread> talks_;
};

void say(int connection, const std::string& text) {
  send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}
Server::Talk answer(std::string text) {
  return [text = std::move(text)](int connection, const std::string&, const std::atomic<bool>&) {
    say(connection, text);
  };
}
void hang(int, const std::string&, const std::atomic<bool>& stopping) {
  while (!stopping) std::this_thread::sleep_for(5ms);
}
// Sends a beginning, then a piece for ever.
Server::Talk endless(std::string begin, std::string piece) {
  return [=](int connection, const std::string&, const std::atomic<bool>& stopping) {
    say(connection, begin);
    while (!stopping && send(connection, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
    }
  };
}

std::uint16_t closed_port() {
  Server gone(hang);
  return gone.port;
}

HealthCheck check_of(std::uint16_t port, HealthCheckType type = HealthCheckType::http) {
  HealthCheck check;
  check.type = type;
  check.port = port;
  check.path = "/healthz";
  check.interval = 40ms;
  check.timeout = 1500ms;  // long, so that a busy machine does not make it fail
  check.rise = 2;
  check.fall = 3;
  return check;
}

HealthTarget target(const std::string& backend, const HealthCheck& check, const char* address = "127.0.0.1",
                    const std::string& pool = "web") {
  return {pool, backend, IpAddress::parse(address).value(), check};
}

class HealthTest : public testing::Test {
 protected:
  void start(HealthOptions options = {}) {
    auto started = HealthChecker::start(
        [this](std::span<const HealthChange> changes) {
          const std::lock_guard lock(mutex_);
          calls_.emplace_back(changes.begin(), changes.end());
        },
        options);
    ASSERT_TRUE(started) << started.error().text();
    checker_ = std::move(*started);
  }
  void SetUp() override { start(); }

  HealthReport report(const std::string& backend) const {
    for (auto& report : checker_->reports())
      if (report.backend == backend) return report;
    ADD_FAILURE() << "no report of " << backend;
    return {};
  }
  bool until(const std::function<bool()>& done, Clock::duration limit = 5s) const {
    for (const auto end = Clock::now() + limit; Clock::now() < end; std::this_thread::sleep_for(1ms))
      if (done()) return true;
    return false;
  }
  bool until_verdict(const std::string& backend, Health verdict) const {
    return until([&] { return report(backend).verdict == verdict; });
  }
  std::vector<std::vector<HealthChange>> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  std::mutex mutex_;
  std::vector<std::vector<HealthChange>> calls_;
  std::unique_ptr<HealthChecker> checker_;
};

TEST_F(HealthTest, AnswersAreJudged) {
  const struct {
    const char* what;
    Server::Talk talk;
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
      {"garbage", answer(std::string("\x16\x03\x01\0\xff garbage\r\n\r\n", 20)), HealthCheckType::http,
       Health::down, "the answer is not HTTP"},
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
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<HealthTarget> targets;
  for (const auto& c : cases) {
    servers.push_back(std::make_unique<Server>(c.talk));
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
  Server four(keep), six(keep, "::1");
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
  Server server([&](int connection, const std::string& request, const std::atomic<bool>&) {
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

// A server whose next answers can be chosen.
struct Switchable {
  std::atomic<int> status{200};
  Server server{[this](int connection, const std::string&, const std::atomic<bool>&) {
    say(connection, http(status));
  }};
};

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
  Server server([&](int connection, const std::string&, const std::atomic<bool>&) {
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
  EXPECT_EQ(checker_->view().at("web").at("b"), Health::down);
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
  EXPECT_EQ(checker_->view().at("web").size(), 2U);
}

TEST_F(HealthTest, ReadyComesWithTheLastFirstResult) {
  EXPECT_FALSE(checker_->ready()) << "not before there is a site";
  Server hanging(hang), good(answer(http(200)));
  checker_->update({target("hangs", check_of(hanging.port)), target("good", check_of(good.port))});
  ASSERT_TRUE(until_verdict("good", Health::up));
  EXPECT_FALSE(checker_->ready());
  EXPECT_FALSE(checker_->wait_ready(1ms));
  EXPECT_TRUE(checker_->wait_ready(10s));
  EXPECT_EQ(report("hangs").verdict, Health::down);
  checker_->update({});
  EXPECT_TRUE(checker_->ready());
}

TEST_F(HealthTest, ABackendThatHangsDelaysNobody) {
  Server hanging(hang), good(answer(http(200)));
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 50; ++i) targets.push_back(target(fmt::format("hangs-{}", i), check_of(hanging.port)));
  targets.push_back(target("good", check_of(good.port)));
  checker_->update(targets);
  std::this_thread::sleep_for(1s);  // less than the timeout
  EXPECT_GT(good.accepted, 6) << "of 25 moments";
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

TEST_F(HealthTest, AThousandProbesSpreadOverTheInterval) {
  std::mutex mutex;
  std::vector<Clock::time_point> times;
  Server server([&](int, const std::string&, const std::atomic<bool>&) {
    const std::lock_guard lock(mutex);
    times.push_back(Clock::now());
  });
  auto check = check_of(server.port, HealthCheckType::tcp);
  check.interval = 2000ms;
  check.timeout = 10s;
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 1000; ++i) targets.push_back(target(fmt::format("backend-{}", i), check));
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(30s));
  const auto taken = calls();
  for (const auto& call : taken)
    for (const auto& change : call) EXPECT_EQ(change.verdict, Health::up) << change.backend << change.reason;
  ASSERT_TRUE(until([&] {
    const std::lock_guard lock(mutex);
    return times.size() >= 1000;
  }));
  checker_.reset();
  const std::lock_guard lock(mutex);
  std::ranges::sort(times);
  // Even would be 125 in 250 ms; a random spread stays below 170; the rest is room for a busy machine.
  std::size_t most = 0;
  for (std::size_t first = 0, last = 0; last < times.size(); ++last) {
    while (times[last] - times[first] > 250ms) ++first;
    most = std::max(most, last - first + 1);
  }
  EXPECT_LT(most, 350U);
  EXPECT_GT(times.back() - times.front(), 1500ms);
}

TEST_F(HealthTest, ChangesOfOneTurnComeInOneCall) {
  const std::uint16_t refused = closed_port();
  auto check = check_of(refused);
  check.interval = 10ms;
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 300; ++i) targets.push_back(target(fmt::format("b{}", i), check));
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(30s));
  ASSERT_TRUE(until([&] {
    std::size_t all = 0;
    for (const auto& call : calls()) all += call.size();
    return all == 300;
  }));
  EXPECT_LT(calls().size(), 150U);
}

TEST_F(HealthTest, TheNumberOfProbesAtOnceIsBounded) {
  start({.parallel_max = 8});
  std::atomic<int> now{0}, most{0};
  Server server([&](int connection, const std::string&, const std::atomic<bool>&) {
    most = std::max(most.load(), ++now);
    std::this_thread::sleep_for(20ms);
    --now;
    say(connection, http(200));
  });
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 100; ++i) targets.push_back(target(fmt::format("b{}", i), check_of(server.port)));
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(30s));
  EXPECT_LE(most, 9) << "one more while a connection is being closed";
  for (const auto& report : checker_->reports()) EXPECT_EQ(report.verdict, Health::up) << report.backend;
}

TEST_F(HealthTest, OurOwnLackOfDescriptorsTakesNobodyDown) {
  Server server(answer(http(200)));
  checker_->update({target("b", check_of(server.port))});
  ASSERT_TRUE(until_verdict("b", Health::up));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool noticed = until([&] { return report("b").last_error.starts_with("not checked"); }, 2s);
  std::this_thread::sleep_for(300ms);
  const auto seen = report("b");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(noticed) << seen.last_error;
  EXPECT_EQ(seen.verdict, Health::up);
  EXPECT_TRUE(until([&] { return report("b").last_error.empty(); }));
}

}  // namespace
}  // namespace guideway
