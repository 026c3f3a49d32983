// Health checks in time and number: spread, bounded, and none of them waits for another.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <span>

#include "health_fixture.h"

namespace guideway {
namespace {

using Clock = std::chrono::steady_clock;

TEST_F(HealthTest, ReadyComesWithTheLastFirstResult) {
  EXPECT_FALSE(checker_->ready()) << "not before there is a site";
  TestServer hanging(hang), good(answer(http(200)));
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
  TestServer hanging(hang), good(answer(http(200)));
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 50; ++i) targets.push_back(target(fmt::format("hangs-{}", i), check_of(hanging.port)));
  targets.push_back(target("good", check_of(good.port)));
  checker_->update(targets);
  std::this_thread::sleep_for(1s);  // less than the timeout
  EXPECT_GT(good.accepted, 6) << "of 25 moments";
}

TEST_F(HealthTest, TheFirstVerdictWaitsForNoInterval) {
  TestServer server(answer(http(200)));
  auto check = check_of(server.port);
  check.interval = 1h;
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 100; ++i) targets.push_back(target(fmt::format("backend-{}", i), check));
  const auto begin = Clock::now();
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(10s));
  EXPECT_LT(Clock::now() - begin, 1500ms) << "half a second, and room for a busy machine";
  // Nor does that of a backend that comes later, or of one at another address.
  check.interval = 30min;
  targets.push_back(target("later", check));
  targets[0].check = check;
  const auto again = Clock::now();
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(10s));
  EXPECT_EQ(report("later").verdict, Health::up);
  EXPECT_LT(Clock::now() - again, 1500ms);
}

// One interval's probes, sorted, as they arrived. As close together as the first ones it would be all of them in 500 ms,
// even would be a quarter; a random spread stays below a third, the rest is room for a busy machine.
bool spread(std::span<const Clock::time_point> times) {
  std::size_t most = 0;
  for (std::size_t first = 0, last = 0; last < times.size(); ++last) {
    while (times[last] - times[first] > 500ms) ++first;
    most = std::max(most, last - first + 1);
  }
  return most < 650 && times.size() > 500 && times.back() - times.front() > 1500ms;
}

// When connections come in. One thread takes them and lets them go: a thread for each would starve the checker.
class Arrivals {
 public:
  Arrivals() {
    EXPECT_EQ(listen(listener_, 4096), 0);
    sockaddr_in where{};
    socklen_t size = sizeof where;
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size), 0);
    port = ntohs(where.sin_port);
    thread_ = std::thread([this] {
      for (int one; (one = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(one)) {
        const std::lock_guard lock(mutex_);
        times_.push_back(Clock::now());
      }
    });
  }
  ~Arrivals() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  [[nodiscard]] std::vector<Clock::time_point> between(Clock::time_point begin, Clock::time_point end) {
    const std::lock_guard lock(mutex_);
    const auto from = std::ranges::lower_bound(times_, begin), to = std::ranges::lower_bound(times_, end);
    return {from, to};
  }
  std::uint16_t port = 0;

 private:
  int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::mutex mutex_;
  std::vector<Clock::time_point> times_;
  std::thread thread_;
};

TEST_F(HealthTest, AThousandProbesSpreadOverTheInterval) {
  Arrivals server;
  auto check = check_of(server.port, HealthCheckType::tcp);
  check.interval = 2000ms;
  check.timeout = 30s;  // it is not about time-outs, which a busy machine makes
  std::vector<HealthTarget> targets;
  for (int i = 0; i < 1000; ++i) targets.push_back(target(fmt::format("backend-{}", i), check));
  checker_->update(targets);
  ASSERT_TRUE(checker_->wait_ready(30s));
  for (const auto& report : checker_->reports())
    EXPECT_EQ(report.verdict, Health::up) << report.backend << ": " << report.last_error;
  // The first ones come soon; an interval later each has its own moment. Others on the machine hold up an interval's
  // probes and let them go at once, so it may take several to see one that was left alone; were the moments the same
  // ones, none would do.
  auto begin = Clock::now() + 1s;
  bool found = false;
  for (int n = 0; n < 10 && !found; ++n, begin += 2s) {
    std::this_thread::sleep_until(begin + 2s);
    found = spread(server.between(begin, begin + 2s));
  }
  EXPECT_TRUE(found) << "in 10 intervals";
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
  TestServer server([&](int connection, const std::string&, const std::atomic<bool>&) {
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
  TestServer server(answer(http(200)));
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
