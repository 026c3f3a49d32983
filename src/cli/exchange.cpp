#include "cli/exchange.h"

#include <fmt/format.h>
#include <http_parser.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "guideway/fd.h"

namespace guideway {
namespace {

using Clock = std::chrono::steady_clock;

Error broken(const std::string& socket, const std::string& why) {
  return {ErrorKind::no_daemon, "the daemon's answer broke off: " + why, socket, "look at its log"};
}

Error late(const std::string& socket) {
  return {
      ErrorKind::no_daemon, "the daemon does not answer in time", socket,
      "look at its log and whether it runs; whether a change was done, `guideway status` tells by the epoch"};
}

std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

Error unreachable(const std::string& socket, int error) {
  if (error == EACCES || error == EPERM) {
    return {ErrorKind::no_daemon, "you may not open this socket", socket,
            "ask as root or as a member of the group guideway"};
  }
  if (error == EAGAIN) return late(socket);
  if (error != ENOENT && error != ECONNREFUSED && error != ENOTDIR) {
    return {ErrorKind::no_daemon, "the socket cannot be reached: " + reason(error), socket,
            "name the daemon's socket with --socket"};
  }
  return {ErrorKind::no_daemon, "no daemon answers here", socket,
          "start guidewayd, name its socket with --socket, or ask a file with --site"};
}

// Waits until the socket can be read or written; false when time is up.
bool wait_for(int socket, short what, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd wanted{socket, what, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the call that follows says why
  }
}

// The answer as it is put together from the parser's calls.
struct Incoming {
  HttpAnswer answer;
  std::size_t body_bytes_max = 0;
  bool whole = false;
};

int take_body(http_parser* parser, const char* data, std::size_t size) noexcept {
  auto& incoming = *static_cast<Incoming*>(parser->data);
  if (size > incoming.body_bytes_max - incoming.answer.body.size()) return 1;
  try {
    incoming.answer.body.append(data, size);
  } catch (const std::exception&) {
    return 1;
  }
  return 0;
}

int take_end(http_parser* parser) noexcept {
  auto& incoming = *static_cast<Incoming*>(parser->data);
  incoming.answer.status = parser->status_code;
  incoming.whole = true;
  return 0;
}

Result<HttpAnswer> receive(int descriptor, const std::string& socket, const ExchangeLimits& limits,
                           Clock::time_point end) {
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_body = take_body;
  settings.on_message_complete = take_end;
  http_parser parser;
  http_parser_init(&parser, HTTP_RESPONSE);
  Incoming incoming{{}, limits.body_bytes_max, false};
  parser.data = &incoming;
  std::array<char, 65536> part;
  while (!incoming.whole) {
    if (!wait_for(descriptor, POLLIN, end)) return tl::unexpected<Error>(late(socket));
    const ssize_t size = recv(descriptor, part.data(), part.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return tl::unexpected<Error>(broken(socket, reason(errno)));
    // A size of 0 tells the parser that the other side has closed, which ends a body of unknown length.
    const auto taken = http_parser_execute(&parser, &settings, part.data(), static_cast<std::size_t>(size));
    if (taken != static_cast<std::size_t>(size) || HTTP_PARSER_ERRNO(&parser) != HPE_OK)
      return tl::unexpected<Error>(broken(socket, http_errno_description(HTTP_PARSER_ERRNO(&parser))));
    if (size == 0 && !incoming.whole)
      return tl::unexpected<Error>(broken(socket, "the connection was closed"));
  }
  return std::move(incoming.answer);
}

// A daemon that refuses a request may answer and close before it has read all of it: that is no error here.
Result<void> send_all(int descriptor, std::string_view bytes, const std::string& socket,
                      Clock::time_point end) {
  while (!bytes.empty()) {
    if (!wait_for(descriptor, POLLOUT, end)) return tl::unexpected<Error>(late(socket));
    const ssize_t size = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return {};
    } else if (errno != EINTR && errno != EAGAIN) {
      return tl::unexpected<Error>(broken(socket, reason(errno)));
    }
  }
  return {};
}

}  // namespace

Result<Fd> connect_to(const std::string& socket, std::chrono::seconds connect_max) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof address.sun_path)
    return tl::unexpected<Error>(unreachable(socket, ENAMETOOLONG));
  std::memcpy(address.sun_path, socket.data(), socket.size());
  Fd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // A unix socket connects at once, or waits in connect() while the daemon's backlog is full.
  const timeval span{static_cast<time_t>(connect_max.count()), 0};
  if (!out || setsockopt(out.get(), SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span) != 0 ||
      connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return tl::unexpected<Error>(unreachable(socket, errno));
  return out;
}

Result<HttpAnswer> post(const Fd& connection, const std::string& socket, const std::string& path,
                        const std::string& body, const ExchangeLimits& limits) {
  const auto end = Clock::now() + limits.answer_max;
  // Head and body at once, so that the daemon wakes up once.
  const std::string request = fmt::format(
      "POST {} HTTP/1.1\r\nHost: guideway\r\nConnection: close\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      path, body.size(), body);
  if (auto sent = send_all(connection.get(), request, socket, end); !sent)
    return tl::unexpected<Error>(std::move(sent.error()));
  return receive(connection.get(), socket, limits, end);
}

}  // namespace guideway
