// gw-load: HTTP connections through a service address, each watched from its SYN to its end.
// What: keeps N connections open at a time, each making R requests (short ones or long-lived ones), and
// counts
//       every failure by its kind: connect, reset, closed, timeout, bytes (an answer that is not this
//       connection's) and moved (another backend answers in mid-connection).
// Why:  "nothing broke" must be counted exactly, per connection and with the time of its SYN; general load
//       tools reconnect silently and report averages.
// Output: "ready" when all N are established, a JSON summary at the end, one line a connection in --log:
//       start_ns end_ns local_port backend requests outcome   (CLOCK_MONOTONIC)
// Not:  a benchmark; one thread, one request in flight a connection.
//
// The server answers with "NAME PORT\n": its name and the client's port as it sees it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, which scripts read too

struct Options {
  std::string address = "203.0.113.10", path = "/", log;
  std::uint16_t port = 80;
  std::size_t connections = 10;
  std::uint64_t requests = 1;  // a connection; 0: until the end
  std::uint64_t count = 0;     // connections in all; 0: no bound
  double seconds = 0;          // 0: no bound
  std::chrono::milliseconds pause{0}, timeout{3000};
};

volatile std::sig_atomic_t stop_asked = 0;

std::int64_t ns(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

struct Connection {
  enum class Phase { connecting, waiting, pausing };
  int fd = -1;
  Phase phase = Phase::connecting;
  std::uint16_t local_port = 0;
  std::uint64_t requests = 0;
  std::string backend, received;
  Clock::time_point start, deadline;
};

// One complete answer at the front of `received`: its body; npos lengths where more has to come.
struct Answer {
  enum class State { partial, complete, malformed } state = State::partial;
  std::string_view body;
};

Answer parse_answer(std::string_view received) {
  const auto header_end = received.find("\r\n\r\n");
  if (header_end == std::string_view::npos) return {};
  const std::string_view header = received.substr(0, header_end);
  if (!header.starts_with("HTTP/1.1 200 ")) return {Answer::State::malformed, {}};
  constexpr std::string_view field = "\r\nContent-Length: ";
  const auto at = header.find(field);
  if (at == std::string_view::npos) return {Answer::State::malformed, {}};
  std::size_t length = 0;
  const char* first = header.data() + at + field.size();
  if (std::from_chars(first, header.data() + header.size(), length).ec != std::errc{})
    return {Answer::State::malformed, {}};
  if (received.size() < header_end + 4 + length) return {};
  return {Answer::State::complete, received.substr(header_end + 4, length)};
}

class Load {
 public:
  explicit Load(Options options) : options_(std::move(options)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  int run();

 private:
  void open_missing();
  void open_one();
  void handle(Connection& connection, std::uint32_t events);
  void send_request(Connection& connection);
  void receive(Connection& connection);
  void take_answer(Connection& connection);
  void finish(Connection& connection, std::string_view outcome);
  void check_deadlines();
  [[nodiscard]] bool may_open() const;
  void watch(Connection& connection, std::uint32_t events, int operation);
  [[nodiscard]] nlohmann::json summary() const;

  Options options_;
  int epoll_;
  sockaddr_storage target_{};
  socklen_t target_size_ = 0;
  std::string request_;
  std::FILE* log_ = nullptr;
  std::map<int, std::unique_ptr<Connection>> open_;
  std::map<std::string, std::uint64_t, std::less<>> failures_, connections_by_backend_, requests_by_backend_;
  std::uint64_t opened_ = 0, closed_ = 0, requests_ = 0, established_ = 0;
  Clock::time_point begin_ = Clock::now();
  bool stopping_ = false, ready_said_ = false;
};

bool Load::may_open() const { return !stopping_ && (options_.count == 0 || opened_ < options_.count); }

void Load::watch(Connection& connection, std::uint32_t events, int operation) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &connection;
  epoll_ctl(epoll_, operation, connection.fd, &event);
}

void Load::open_one() {
  auto connection = std::make_unique<Connection>();
  Connection& c = *connection;
  c.fd = socket(target_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (c.fd < 0) {
    std::perror("gw-load: socket");
    std::exit(2);
  }
  const int one = 1;
  setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  c.start = Clock::now();
  c.deadline = c.start + options_.timeout;
  ++opened_;
  const int rc = connect(c.fd, reinterpret_cast<const sockaddr*>(&target_), target_size_);
  const int error = errno;
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  if (getsockname(c.fd, reinterpret_cast<sockaddr*>(&local), &size) == 0)
    c.local_port = ntohs(local.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(local).sin6_port
                                                     : reinterpret_cast<sockaddr_in&>(local).sin_port);
  open_[c.fd] = std::move(connection);
  if (rc != 0 && error != EINPROGRESS) return finish(c, "connect");
  watch(c, EPOLLOUT, EPOLL_CTL_ADD);
}

void Load::open_missing() {
  // Not all at once: a backlog that overflows would be the load's own fault.
  for (int i = 0; i < 64 && open_.size() < options_.connections && may_open(); ++i) open_one();
}

void Load::finish(Connection& connection, std::string_view outcome) {
  if (outcome != "ok") ++failures_[std::string(outcome)];
  if (!connection.backend.empty()) ++connections_by_backend_[connection.backend];
  if (log_ != nullptr)
    std::fprintf(log_, "%lld %lld %u %s %llu %.*s\n", static_cast<long long>(ns(connection.start)),
                 static_cast<long long>(ns(Clock::now())), connection.local_port,
                 connection.backend.empty() ? "-" : connection.backend.c_str(),
                 static_cast<unsigned long long>(connection.requests), static_cast<int>(outcome.size()),
                 outcome.data());
  ++closed_;
  close(connection.fd);
  open_.erase(connection.fd);
}

void Load::send_request(Connection& connection) {
  connection.phase = Connection::Phase::waiting;
  connection.deadline = Clock::now() + options_.timeout;
  const auto sent = send(connection.fd, request_.data(), request_.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(request_.size())) return watch(connection, EPOLLIN, EPOLL_CTL_MOD);
  finish(connection, errno == ECONNRESET || errno == EPIPE ? "reset" : "closed");
}

void Load::receive(Connection& connection) {
  std::array<char, 4096> buffer{};
  const auto got = recv(connection.fd, buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return finish(connection, "reset");
  if (got == 0) return finish(connection, "closed");
  connection.received.append(buffer.data(), static_cast<std::size_t>(got));
  if (connection.phase != Connection::Phase::waiting) return finish(connection, "bytes");
  take_answer(connection);
}

void Load::take_answer(Connection& connection) {
  const Answer answer = parse_answer(connection.received);
  if (answer.state == Answer::State::partial) return;
  if (answer.state == Answer::State::malformed) return finish(connection, "bytes");
  const auto space = answer.body.find(' ');
  if (space == std::string_view::npos ||
      answer.body.substr(space + 1) != std::to_string(connection.local_port) + "\n")
    return finish(connection, "bytes");
  const std::string backend(answer.body.substr(0, space));
  if (connection.backend.empty()) {
    connection.backend = backend;
    ++established_;
  }
  if (connection.backend != backend) return finish(connection, "moved");
  connection.received.clear();
  ++connection.requests;
  ++requests_;
  ++requests_by_backend_[backend];
  if (stopping_ || (options_.requests != 0 && connection.requests >= options_.requests))
    return finish(connection, "ok");
  if (options_.pause.count() == 0) return send_request(connection);
  connection.phase = Connection::Phase::pausing;
  connection.deadline = Clock::now() + options_.pause;
}

void Load::handle(Connection& connection, std::uint32_t events) {
  if (connection.phase == Connection::Phase::connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
      return finish(connection, error == ECONNRESET || error == ECONNREFUSED ? "reset" : "connect");
    return send_request(connection);
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(connection);
}

void Load::check_deadlines() {
  const auto now = Clock::now();
  std::vector<Connection*> due;
  for (auto& [fd, connection] : open_)
    if (connection->deadline <= now || (stopping_ && connection->phase == Connection::Phase::pausing))
      due.push_back(connection.get());
  for (Connection* connection : due) {
    switch (connection->phase) {
      case Connection::Phase::connecting:
        finish(*connection, "connect");
        break;
      case Connection::Phase::waiting:
        finish(*connection, "timeout");
        break;
      case Connection::Phase::pausing:
        if (stopping_)
          finish(*connection, "ok");
        else
          send_request(*connection);
        break;
    }
  }
}

nlohmann::json Load::summary() const {
  std::uint64_t failed = 0;
  for (const auto& [kind, n] : failures_) failed += n;
  return {{"connections", closed_},
          {"requests", requests_},
          {"failed", failed},
          {"failures", failures_},
          {"connections_by_backend", connections_by_backend_},
          {"requests_by_backend", requests_by_backend_},
          {"seconds", std::chrono::duration<double>(Clock::now() - begin_).count()}};
}

int Load::run() {
  auto* in4 = reinterpret_cast<sockaddr_in*>(&target_);
  auto* in6 = reinterpret_cast<sockaddr_in6*>(&target_);
  const bool v6 = options_.address.find(':') != std::string::npos;
  target_.ss_family = v6 ? AF_INET6 : AF_INET;
  target_size_ = v6 ? sizeof *in6 : sizeof *in4;
  (v6 ? in6->sin6_port : in4->sin_port) = htons(options_.port);
  if (inet_pton(target_.ss_family, options_.address.c_str(),
                v6 ? static_cast<void*>(&in6->sin6_addr) : static_cast<void*>(&in4->sin_addr)) != 1) {
    std::fprintf(stderr, "gw-load: %s is no address\n", options_.address.c_str());
    return 2;
  }
  request_ = "GET " + options_.path + " HTTP/1.1\r\nHost: lab\r\n" +
             (options_.requests == 1 ? "Connection: close\r\n\r\n" : "\r\n");
  if (!options_.log.empty() && (log_ = std::fopen(options_.log.c_str(), "we")) == nullptr) {
    std::perror(options_.log.c_str());
    return 2;
  }

  std::array<epoll_event, 256> events{};
  while (!open_.empty() || may_open()) {
    open_missing();
    const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 5);
    for (int i = 0; i < n; ++i)
      handle(*static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr),
             events[static_cast<std::size_t>(i)].events);
    check_deadlines();
    if (!ready_said_ && established_ >= options_.connections) {
      ready_said_ = true;
      std::puts("ready");
      std::fflush(stdout);
    }
    stopping_ = stopping_ || stop_asked != 0 ||
                (options_.seconds > 0 &&
                 std::chrono::duration<double>(Clock::now() - begin_).count() >= options_.seconds);
  }
  if (log_ != nullptr) std::fclose(log_);
  const auto report = summary();
  std::puts(report.dump().c_str());
  return report["failed"] == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  int pause_ms = 0, timeout_ms = 3000;
  CLI::App app{"HTTP connections through a service address, each watched from its SYN to its end"};
  app.add_option("--address", options.address, "service address")->capture_default_str();
  app.add_option("--port", options.port, "service port")->capture_default_str();
  app.add_option("--path", options.path, "what to ask for")->capture_default_str();
  app.add_option("--connections", options.connections, "open at a time")->capture_default_str();
  app.add_option("--requests", options.requests, "requests a connection; 0: until the end")
      ->capture_default_str();
  app.add_option("--count", options.count, "connections in all; 0: no bound")->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long; 0: no bound")->capture_default_str();
  app.add_option("--pause-ms", pause_ms, "between two requests of a connection")->capture_default_str();
  app.add_option("--timeout-ms", timeout_ms, "for an answer")->capture_default_str();
  app.add_option("--log", options.log, "file for one line a connection");
  CLI11_PARSE(app, argc, argv);
  options.pause = std::chrono::milliseconds(pause_ms);
  options.timeout = std::chrono::milliseconds(timeout_ms);
  const auto stop = [](int) { stop_asked = 1; };
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  return Load(std::move(options)).run();
}
