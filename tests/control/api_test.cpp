// The API over a real unix socket: who is let in, how much, and how the socket is taken and left.
#include "control/api.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "api_fixture.h"
#include "control/api_peer.h"

namespace guideway {
namespace {

using nlohmann::json;

TEST_F(ApiTest, AnswersReadsAndChanges) {
  const auto api = start();
  const ApiReply digests = request(path_, "/v1/digests");
  EXPECT_EQ(digests.status, 200);
  EXPECT_EQ(json::parse(digests.body)["epoch"], 1);
  const std::string body = R"({"command": "backend drain web web-1"})";
  const ApiReply drained = request(path_, "/v1/commands", &body);
  EXPECT_EQ(drained.status, 200) << drained.body;
  EXPECT_EQ(json::parse(drained.body)["epoch"], 2);
  const ApiReply table = request(path_, "/v1/tables/web");
  EXPECT_EQ(json::parse(table.body)["rows"].size(), 1009U);
  EXPECT_EQ(request(path_, "/v1/nothing").status, 404);
  const ApiReply site = request(path_, "/v1/site");
  const ApiReply put = request(path_, "/v1/site", &site.body, "PUT");
  EXPECT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(json::parse(put.body)["result"], "unchanged");
}

TEST_F(ApiTest, ABodyBeyondTheLimitIsRefused) {
  ApiLimits limits;
  limits.body_bytes_max = 1000;
  const auto api = start(limits);
  const std::string big(5000, ' ');
  const ApiReply refused = request(path_, "/v1/site", &big, "PUT");
  EXPECT_EQ(refused.status, 413) << refused.body;
  EXPECT_NE(refused.body.find("larger than 1000 bytes"), std::string::npos);
  const std::string fits(1000, ' ');
  EXPECT_EQ(request(path_, "/v1/commands", &fits).status, 400);
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
}

TEST_F(ApiTest, ChunkedBodiesAreBoundedToo) {
  ApiLimits limits;
  limits.body_bytes_max = 100;
  const auto api = start(limits);
  const std::string head = "PUT /v1/site HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_NE(raw(path_, head + "80\r\n" + std::string(128, 'a') + "\r\n0\r\n\r\n").find(" 413 "),
            std::string::npos);
  // Twice the limit is not even read to its end.
  EXPECT_EQ(raw(path_, head + "800\r\n" + std::string(2048, 'a') + "\r\n0\r\n\r\n").find(" 200 "),
            std::string::npos);
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
}

TEST_F(ApiTest, GarbageHurtsNobody) {
  const auto api = start();
  for (const std::string& bytes :
       {std::string("\0\1\2\3", 4), std::string(100000, 'A'), std::string("GET /v1/status\r\n\r\n"),
        std::string("POST /v1/commands HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"),
        std::string("POST /v1/commands HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        std::string("POST /v1/commands HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")}) {
    EXPECT_EQ(raw(path_, bytes).find(" 200 "), std::string::npos) << bytes.substr(0, 40);
  }
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
}

TEST_F(ApiTest, ManyAskAtOnce) {
  const auto api = start();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, &good, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string body = std::string(R"({"command": "backend )") +
                                 ((i + t) % 2 == 0 ? "drain" : "undrain") + R"( web web-1"})";
        if (request(path_, "/v1/commands", &body).status == 200) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
}

TEST_F(ApiTest, TheSocketIsForRootAndTheGroup) {
  const auto api = start();
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0660U);
  EXPECT_EQ(status.st_gid, api_group().value_or(getegid()));
}

TEST_F(ApiTest, AStrangerIsRefusedEvenWhereTheSocketIsOpen) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const auto api = start();
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  ASSERT_EQ(chmod(scratch_.path().c_str(), 0755), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const std::string answer = raw(path_, "GET /v1/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    _exit(answer.find(" 403 ") != std::string::npos ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result));
  EXPECT_EQ(WEXITSTATUS(result), 0);
}

TEST_F(ApiTest, ASecondDaemonIsRefusedAndTheFirstGoesOn) {
  const auto api = start();
  const auto second = ApiSocket::open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().where, path_);
  EXPECT_NE(second.error().what.find("another guidewayd"), std::string::npos);
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
}

TEST_F(ApiTest, TheSocketGoesWithItsDaemonAndIsTakenOverFromADeadOne) {
  { const auto api = start(); }
  EXPECT_FALSE(std::filesystem::exists(path_));
  // What kill -9 leaves: a bound socket without anybody behind it.
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(descriptor);
  ASSERT_TRUE(std::filesystem::exists(path_));
  const auto api = start();
  EXPECT_EQ(request(path_, "/v1/version").status, 200);
}

TEST_F(ApiTest, PathsThatCannotBeASocket) {
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(ApiSocket::open(path_));
  EXPECT_TRUE(std::filesystem::is_regular_file(path_)) << "a file that is no socket was removed";
  EXPECT_FALSE(ApiSocket::open(""));
  EXPECT_FALSE(ApiSocket::open(scratch_.path() / std::string(200, 'a')));
  EXPECT_FALSE(ApiSocket::open("/nonexistent/far/away/api.sock"));
  EXPECT_TRUE(ApiSocket::open(scratch_.path() / "new" / "api.sock"));
}

}  // namespace
}  // namespace guideway
