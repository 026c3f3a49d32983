#include "control/metrics_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "state/prefix.h"

namespace guideway {
namespace {

constexpr unsigned connections_max = 32;
constexpr unsigned idle_seconds_max = 10;
constexpr std::size_t connection_memory_bytes = 16384;

struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;
};

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  Endpoint out;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), out.port);
  if (!address || bracketed != (address->family == Family::ipv6) || error != std::errc{} ||
      end != port_text.data() + port_text.size())
    return std::nullopt;
  out.address = *address;
  return out;
}

// A listening socket of our own, so that the error says why.
Result<Fd> listen_on(const std::string& bind_text) {
  const auto endpoint = parse_endpoint(bind_text);
  if (!endpoint)
    return fail(ErrorKind::invalid, fmt::format("metrics = \"{}\" is no address and port", bind_text), {},
                "write 127.0.0.1:9464 or [::1]:9464, or \"\" for none");
  if (!is_loopback(endpoint->address))
    return fail(ErrorKind::refused, fmt::format("metrics = \"{}\" is not on loopback", bind_text), {},
                "use 127.0.0.1 or [::1], and a reverse proxy for other hosts");
  sockaddr_storage where{};
  socklen_t size = sizeof(sockaddr_in);
  if (endpoint->address.family == Family::ipv4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(where);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint->port);
    std::memcpy(&v4.sin_addr, endpoint->address.bytes.data(), sizeof v4.sin_addr);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(where);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint->port);
    std::memcpy(&v6.sin6_addr, endpoint->address.bytes.data(), sizeof v6.sin6_addr);
    size = sizeof v6;
  }
  Fd listener(socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (listener && setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      bind(listener.get(), reinterpret_cast<sockaddr*>(&where), size) == 0 &&
      ::listen(listener.get(), SOMAXCONN) == 0)
    return listener;
  const int error = errno;
  return fail(ErrorKind::refused,
              fmt::format("metrics: cannot listen on {}: {}", bind_text, std::strerror(error)), {},
              error == EADDRINUSE
                  ? "another program has this port: stop it or change `metrics` in director.toml"
                  : "change `metrics` in director.toml, or set it to \"\" for none");
}

struct Answer {
  unsigned status = MHD_HTTP_OK;
  const char* type = "text/plain; charset=utf-8";
  std::string body;
};

Answer answer(const MetricsServer::Source& source, std::string_view method, std::string_view path) {
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
    return {.status = MHD_HTTP_METHOD_NOT_ALLOWED, .body = "read-only: use GET; changes go by `guideway`\n"};
  if (path == "/metrics")
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics_text(source())};
  if (path == "/") return {.body = status_page(source())};
  return {.status = MHD_HTTP_NOT_FOUND, .body = "nothing here; try / or /metrics\n"};
}

MHD_Result send(MHD_Connection* connection, const Answer& what) {
  // The body is copied, so that it needs no longer life than this call.
  MHD_Response* response = MHD_create_response_from_buffer(
      what.body.size(), const_cast<char*>(what.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, what.type);
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  if (what.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, what.status, response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result handle(void* to, MHD_Connection* connection, const char* path, const char* method, const char*,
                  const char*, std::size_t* upload_size, void** state) noexcept {
  // libmicrohttpd calls once with the headers and again for the body and the end; only the end is answered.
  static char seen = 0;
  if (*state == nullptr) {
    *state = &seen;
    return MHD_YES;
  }
  if (*upload_size != 0) {  // a body that nobody asked for
    *upload_size = 0;
    return MHD_YES;
  }
  try {
    return send(connection, answer(*static_cast<const MetricsServer::Source*>(to), method, path));
  } catch (const std::exception& error) {
    spdlog::error("metrics: {}", error.what());
    return MHD_NO;  // closes this connection
  }
}

// Connections in the order they came. An answer takes milliseconds, so where there is no room for another one, the
// oldest has had its time, however alive its client keeps it: slow ones cannot hold the port.
class Arrivals {
 public:
  static void note(void* to, MHD_Connection* connection, void**,
                   MHD_ConnectionNotificationCode what) noexcept {
    auto& arrivals = *static_cast<Arrivals*>(to);
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) return;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      arrivals.add(info->connect_fd);
    } else {
      arrivals.remove(info->connect_fd);
    }
  }

 private:
  void add(int descriptor) {
    if (count_ == connections_.size()) return;  // the server takes no more than fit
    connections_[count_++] = descriptor;
    // At this limit the server takes no further one, so the room is made before it is needed.
    if (count_ == connections_.size()) shutdown(connections_[0], SHUT_RDWR);
  }
  void remove(int descriptor) {
    const auto end = connections_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto at = std::find(connections_.begin(), end, descriptor);
    if (at == end) return;
    std::copy(at + 1, end, at);
    --count_;
  }
  std::array<int, connections_max> connections_{};  // the server's one thread
  std::size_t count_ = 0;
};

}  // namespace

struct MetricsServer::Impl {
  Arrivals arrivals;
  Source source;
  std::uint16_t port = 0;
  std::unique_ptr<MHD_Daemon, void (*)(MHD_Daemon*)> daemon{nullptr, MHD_stop_daemon};  // closes the listener
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::~MetricsServer() = default;

Result<Fd> MetricsServer::listen(const std::string& bind) { return listen_on(bind); }

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& bind, Source source) {
  auto listener = listen(bind);
  if (!listener) return tl::unexpected(listener.error());
  return start(std::move(*listener), std::move(source));
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(Fd listener, Source source) {
  auto impl = std::make_unique<Impl>();
  impl->source = std::move(source);
  sockaddr_storage where{};
  socklen_t size = sizeof where;
  if (getsockname(listener.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0)
    impl->port = ntohs(reinterpret_cast<sockaddr_in&>(where).sin_port);  // at the same place in both families
  impl->daemon.reset(
      MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, nullptr, nullptr, handle,
                       &impl->source, MHD_OPTION_LISTEN_SOCKET, listener.get(), MHD_OPTION_CONNECTION_LIMIT,
                       connections_max, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds_max,
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory_bytes,
                       MHD_OPTION_NOTIFY_CONNECTION, &Arrivals::note, &impl->arrivals, MHD_OPTION_END));
  if (!impl->daemon)
    return fail(ErrorKind::internal, "metrics: the HTTP server does not start", {},
                "raise the limit of open files");
  (void)listener.release();  // the server closes it
  return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(impl)));
}

std::uint16_t MetricsServer::port() const { return impl_->port; }

}  // namespace guideway
