// The API against clients that mean no good or do none: huge, deep, garbled, slow, and very many.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "api_fixture.h"
#include "command/json_text.h"
#include "guideway/fd.h"

namespace guideway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

Fd connected(const std::string& path) {
  Fd out(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return out;
}

std::string repeated(const std::string& part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

struct HostileBody {
  const char* description;
  std::string body;
};

TEST_F(ApiTest, HostileBodiesAreRefusedInOneSentence) {
  const auto api = start();
  constexpr std::size_t ten_megabytes = 10U << 20;
  const HostileBody cases[] = {
      {"10 MB of blanks", std::string(ten_megabytes, ' ')},
      {"10 MB in one string", R"({"command": ")" + std::string(ten_megabytes, 'a') + R"("})"},
      {"10 MB of [", std::string(ten_megabytes, '[')},
      {"deep and well formed",
       R"({"command": )" + std::string(1U << 20, '[') + std::string(1U << 20, ']') + "}"},
      {"deep objects", repeated(R"({"command":)", 100'000) + "1" + std::string(100'000, '}')},
      {"a million words", R"({"command": [)" + repeated(R"("a",)", 1'000'000) + R"("a"]})"},
      {"no UTF-8", "{\"command\": \"backend drain web web-\xff\xfe\"}"},
      {"a cut UTF-8 sequence", "{\"command\": [\"status\", \"\xe2\x82\"]}"},
      {"NUL in a name", R"({"command": ["backend", "drain", "web", "web-1\u0000"]})"},
      {"another type", "<xml/>"},
      {"a form", "command=status"},
  };
  for (const HostileBody& one : cases) {
    const ApiReply reply = request(path_, "/v1/commands", &one.body);
    EXPECT_EQ(reply.code, CURLE_OK) << one.description;
    EXPECT_EQ(reply.status, 400) << one.description << ": " << reply.body.substr(0, 300);
    const json error = json::parse(reply.body, nullptr, false);
    ASSERT_TRUE(error.is_object()) << one.description;
    EXPECT_LT(reply.body.size(), 2000U) << one.description << ": what is hostile is not sent back whole";
    EXPECT_FALSE(error["next"].get<std::string>().empty()) << one.description;
  }
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
  EXPECT_EQ((*director_("site export"))["epoch"], 1);
}

TEST_F(ApiTest, AHostileSiteIsRefusedAndTheOldOneStays) {
  const auto api = start();
  for (const std::string& body :
       {std::string("\xff\xfe\x00", 3), std::string("{\"site\": 7}"), std::string("{"),
        std::string(R"({"site": "", "seatings": {"web": {}}})"), "pool = " + std::string(1U << 20, '[')}) {
    const ApiReply reply = request(path_, "/v1/site", &body, "PUT");
    EXPECT_EQ(reply.status, 400) << body.substr(0, 40) << ": " << reply.body.substr(0, 300);
  }
  EXPECT_EQ((*director_("site export"))["epoch"], 1);
}

TEST_F(ApiTest, AThousandSilentConnectionsKeepNobodyOut) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit before = files;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 20'000);
  if (files.rlim_cur < 5000 || setrlimit(RLIMIT_NOFILE, &files) != 0)
    GTEST_SKIP() << "too few open files allowed";
  ApiLimits limits;
  limits.idle_max = 2s;
  {
    const auto api = start(limits);
    std::vector<Fd> silent;
    for (int i = 0; i < 1000; ++i) silent.push_back(connected(path_));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(request(path_, "/v1/version").status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    // And they do not stay: the other side has closed what said nothing.
    timeval limit{10, 0};
    char byte = 0;
    setsockopt(silent.front().get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(recv(silent.front().get(), &byte, 1, 0), 0);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(ApiTest, ABodyThatTricklesIsCutOff) {
  ApiLimits limits;
  limits.body_max = 1s;
  const auto api = start(limits);
  const Fd slow = connected(path_);
  const std::string head = "POST /v1/commands HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
  ASSERT_EQ(send(slow.get(), head.data(), head.size(), MSG_NOSIGNAL), static_cast<ssize_t>(head.size()));
  const auto begin = std::chrono::steady_clock::now();
  bool open = true;
  while (open && std::chrono::steady_clock::now() - begin < 20s) {
    open = send(slow.get(), " ", 1, MSG_NOSIGNAL) == 1;
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_FALSE(open) << "a byte now and then holds a connection for ever";
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
}

TEST_F(ApiTest, OfTwoWritersOfOneEpochOneWins) {
  const auto api = start();
  for (int round = 1; round <= 20; ++round) {
    std::atomic<int> done{0}, stale{0};
    const auto write = [&](const std::string& backend) {
      const json body{{"command", "backend weight web " + backend + " " + std::to_string(100 + round)},
                      {"expect_epoch", round},
                      {"force", true}};
      const std::string text = json_text(body);
      const long status = request(path_, "/v1/commands", &text).status;
      done += status == 200 ? 1 : 0;
      stale += status == 412 ? 1 : 0;
    };
    std::thread one(write, "web-1"), two(write, "web-2");
    one.join();
    two.join();
    ASSERT_EQ(done, 1) << round;
    ASSERT_EQ(stale, 1) << round;
  }
}

}  // namespace
}  // namespace guideway
