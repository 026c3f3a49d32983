// Test server: a TCP server on loopback whose answers a test chooses: it answers, hangs, drips or lies.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace guideway {

using namespace std::chrono_literals;

inline std::string http(int status, const std::string& body = "fine") {
  return fmt::format("HTTP/1.1 {} Word\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

// A server that gives every connection to `talk` on a thread of its own; a talk ends when `stopping` says so.
class TestServer {
 public:
  using Talk =
      std::function<void(int connection, const std::string& request, const std::atomic<bool>& stopping)>;

  explicit TestServer(Talk talk, const char* address = "127.0.0.1") : talk_(std::move(talk)) {
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
  ~TestServer() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (auto& thread : talks_) thread.join();
    close(listener_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

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

inline void say(int connection, const std::string& text) {
  send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}
inline TestServer::Talk answer(std::string text) {
  return [text = std::move(text)](int connection, const std::string&, const std::atomic<bool>&) {
    say(connection, text);
  };
}
inline void hang(int, const std::string&, const std::atomic<bool>& stopping) {
  while (!stopping) std::this_thread::sleep_for(5ms);
}
// Sends a beginning, then a piece for ever.
inline TestServer::Talk endless(std::string begin, std::string piece) {
  return [=](int connection, const std::string&, const std::atomic<bool>& stopping) {
    say(connection, begin);
    while (!stopping && send(connection, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
    }
  };
}

inline std::uint16_t closed_port() {
  TestServer gone(hang);
  return gone.port;
}

// A server whose next answers can be chosen.
struct Switchable {
  std::atomic<int> status{200};
  TestServer server{[this](int connection, const std::string&, const std::atomic<bool>&) {
    say(connection, http(status));
  }};
};

}  // namespace guideway
