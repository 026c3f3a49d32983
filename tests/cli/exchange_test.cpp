// One HTTP exchange over a unix socket, against servers that answer, lie, break off and hang.
#include "cli/exchange.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <thread>

#include "../state/scratch_directory.h"
#include "guideway/fd.h"

namespace guideway {
namespace {

Result<HttpAnswer> ask(const std::string& socket, const std::string& path, const std::string& body,
                       const ExchangeLimits& limits = {}) {
  const auto connection = connect_to(socket);
  if (!connection) return tl::unexpected<Error>(connection.error());
  return post(*connection, socket, path, body, limits);
}

using namespace std::chrono_literals;

// Takes one connection, reads until the request's blank line and body are there, says `answer`, and closes after
// `pause`.
class OneAnswer {
 public:
  OneAnswer(const std::string& path, std::string answer, std::chrono::milliseconds pause = 0ms)
      : listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    thread_ = std::thread([this, answer = std::move(answer), pause] {
      const Fd connection(accept(listener_.get(), nullptr, nullptr));
      std::array<char, 65536> part{};
      while (request.find("\r\n\r\n{}") == std::string::npos) {
        const ssize_t size = recv(connection.get(), part.data(), part.size(), 0);
        if (size <= 0) return;
        request.append(part.data(), static_cast<std::size_t>(size));
      }
      send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(pause);
    });
  }
  ~OneAnswer() { thread_.join(); }

  std::string request;

 private:
  Fd listener_;
  std::thread thread_;
};

TEST(Exchange, ReadsEveryFormOfAnAnswer) {
  const struct {
    const char* description;
    const char* answer;
    unsigned status;
    const char* body;
  } cases[] = {
      {"a length", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{\"a\"", 200, "{\"a\""},
      {"chunks", "HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
       409, "abc"},
      {"until the end", "HTTP/1.0 200 OK\r\n\r\nall of it", 200, "all of it"},
      {"no body", "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", 503, ""},
  };
  for (const auto& one : cases) {
    const ScratchDirectory scratch;
    const std::string path = (scratch.path() / "s").string();
    const OneAnswer server(path, one.answer);
    const auto answer = ask(path, "/v1/commands", "{}");
    ASSERT_TRUE(answer) << one.description << ": " << answer.error().text();
    EXPECT_EQ(answer->status, one.status) << one.description;
    EXPECT_EQ(answer->body, one.body) << one.description;
    EXPECT_TRUE(server.request.starts_with("POST /v1/commands HTTP/1.1\r\n")) << server.request;
    EXPECT_NE(server.request.find("Content-Length: 2\r\n"), std::string::npos);
  }
}

TEST(Exchange, WhatIsNoAnswerIsSaidInASentence) {
  const struct {
    const char* description;
    std::string answer;
    std::chrono::milliseconds pause;
    ErrorKind kind;
    const char* part;
  } cases[] = {
      {"closed at once", "", 0ms, ErrorKind::no_daemon, "broke off"},
      {"cut short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfour", 0ms, ErrorKind::no_daemon,
       "broke off"},
      {"garbage", "SSH-2.0-OpenSSH_9.2\r\n", 0ms, ErrorKind::no_daemon, "broke off"},
      {"silence", "", 3000ms, ErrorKind::no_daemon, "in time"},
      {"more than is taken", "HTTP/1.1 200 OK\r\n\r\n" + std::string(5000, 'x'), 0ms, ErrorKind::no_daemon,
       "broke off"},
  };
  for (const auto& one : cases) {
    const ScratchDirectory scratch;
    const std::string path = (scratch.path() / "s").string();
    const OneAnswer server(path, one.answer, one.pause);
    const auto answer = ask(path, "/", "{}", {.answer_max = 1s, .body_bytes_max = 1000});
    ASSERT_FALSE(answer) << one.description;
    EXPECT_EQ(answer.error().kind, one.kind) << one.description << ": " << answer.error().text();
    EXPECT_NE(answer.error().what.find(one.part), std::string::npos)
        << one.description << ": " << answer.error().text();
    EXPECT_EQ(answer.error().where, path);
    EXPECT_FALSE(answer.error().next.empty());
  }
}

TEST(Exchange, WithoutASocketThereIsNoDaemon) {
  const ScratchDirectory scratch;
  for (const std::string& path :
       {(scratch.path() / "nobody").string(), std::string(), std::string(200, 'a')}) {
    const auto answer = ask(path, "/", "{}");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::no_daemon) << answer.error().text();
    EXPECT_FALSE(answer.error().next.empty());
  }
}

}  // namespace
}  // namespace guideway
