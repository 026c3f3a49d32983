#include "control/api.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>

#include "control/api_peer.h"

namespace guideway {
namespace {

constexpr unsigned threads = 4;  // a long answer must not keep the others waiting
constexpr std::size_t header_bytes_max = 64 << 10;

// Files for everything else of the daemon stay left, whoever connects.
unsigned within_open_files(unsigned wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  const rlim_t quarter = std::max<rlim_t>(files.rlim_cur / 4, threads);
  return static_cast<unsigned>(std::min<rlim_t>(wanted, quarter));
}

// One request on its way in.
struct Exchange {
  ApiRequest request;
  std::size_t received = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

std::string header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string() : std::string(value);
}

MHD_Result send(MHD_Connection* connection, const ApiResponse& answer, bool close) {
  // With MUST_COPY the body is only read.
  MHD_Response* response = MHD_create_response_from_buffer(
      answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (!answer.etag.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, answer.etag.c_str());
  if (!answer.allow.empty()) MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer.allow.c_str());
  if (close) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

ApiResponse too_big(std::size_t bytes_max) {
  ApiResponse out =
      error_response({ErrorKind::invalid, fmt::format("the body is larger than {} bytes", bytes_max), "body",
                      "send less at a time"});
  out.status = MHD_HTTP_CONTENT_TOO_LARGE;
  return out;
}

ApiResponse not_permitted() {
  ApiResponse out = error_response({ErrorKind::refused, "you may not ask this director", "api socket",
                                    "ask as root or as a member of the group guideway"});
  out.status = MHD_HTTP_FORBIDDEN;
  return out;
}

// What a client did wrong is told to the client; the log has it only when asked to tell everything.
void log_line(void*, const char* format, va_list arguments) {
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  std::string_view text(line.data());
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  spdlog::debug("api: {}", text);
}

}  // namespace

struct Api::Impl {
  Impl(ApiSocket listener, CommandRunner runner, ApiLimits bounds)
      : socket(std::move(listener)), run(std::move(runner)), limits(bounds), group(api_group()) {}
  ~Impl() {
    if (daemon == nullptr) return;
    MHD_quiesce_daemon(daemon);  // leaves the listening socket to its owner
    MHD_stop_daemon(daemon);
  }

  ApiSocket socket;
  CommandRunner run;
  ApiLimits limits;
  std::optional<gid_t> group;
  MHD_Daemon* daemon = nullptr;

  [[nodiscard]] bool permitted(MHD_Connection* connection) const {
    const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != nullptr && peer_may_ask(info->connect_fd, group);
  }

  // The first call of a request: its header is there, its body is not.
  MHD_Result begin(MHD_Connection* connection, const char* url, const char* method, void** state) const {
    if (!permitted(connection)) return send(connection, not_permitted(), true);
    const std::string length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (!length.empty() && std::strtoull(length.c_str(), nullptr, 10) > limits.body_bytes_max) {
      return send(connection, too_big(limits.body_bytes_max), true);
    }
    auto exchange = std::make_unique<Exchange>();
    exchange->request.method =
        std::string_view(method) == MHD_HTTP_METHOD_HEAD ? MHD_HTTP_METHOD_GET : method;
    exchange->request.path = url;
    if (const MHD_ConnectionInfo* info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD))
      exchange->request.asked_by = peer_text(info->connect_fd);
    exchange->request.accept = header(connection, MHD_HTTP_HEADER_ACCEPT);
    exchange->request.if_match = header(connection, MHD_HTTP_HEADER_IF_MATCH);
    *state = exchange.release();
    return MHD_YES;
  }

  // A part of the body. One of unknown length may grow beyond the limit: the rest is read past and refused at its
  // end, but not for ever.
  [[nodiscard]] MHD_Result take(Exchange& exchange, const char* data, std::size_t size) const {
    exchange.received += size;
    if (exchange.received > 2 * limits.body_bytes_max) return MHD_NO;
    if (std::chrono::steady_clock::now() - exchange.begin > limits.body_max) return MHD_NO;
    if (exchange.received > limits.body_bytes_max) {
      exchange.request.body = {};
    } else {
      exchange.request.body.append(data, size);
    }
    return MHD_YES;
  }

  MHD_Result finish(MHD_Connection* connection, const Exchange& exchange) const {
    if (exchange.received > limits.body_bytes_max)
      return send(connection, too_big(limits.body_bytes_max), true);
    return send(connection, answer(run, exchange.request), false);
  }

  static MHD_Result handle(void* self, MHD_Connection* connection, const char* url, const char* method,
                           const char*, const char* data, std::size_t* size, void** state) noexcept {
    // No exception may run into the C library.
    try {
      const auto* impl = static_cast<const Impl*>(self);
      if (*state == nullptr) return impl->begin(connection, url, method, state);
      auto& exchange = *static_cast<Exchange*>(*state);
      if (*size == 0) return impl->finish(connection, exchange);
      const MHD_Result taken = impl->take(exchange, data, *size);
      *size = 0;
      return taken;
    } catch (const std::exception& exception) {
      spdlog::error("api: a request failed inside: {}", exception.what());
      return MHD_NO;
    }
  }

  static void completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) noexcept {
    delete static_cast<Exchange*>(*state);
    *state = nullptr;
  }
};

Api::Api(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Api::~Api() = default;

Result<std::unique_ptr<Api>> Api::start(ApiSocket socket, CommandRunner run, ApiLimits limits) {
  auto impl = std::make_unique<Impl>(std::move(socket), std::move(run), limits);
  impl->daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, nullptr, nullptr, &Impl::handle,
      impl.get(), MHD_OPTION_EXTERNAL_LOGGER, &log_line, nullptr, MHD_OPTION_LISTEN_SOCKET,
      impl->socket.descriptor(), MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_CONNECTION_LIMIT,
      within_open_files(limits.connections_max), MHD_OPTION_CONNECTION_TIMEOUT,
      static_cast<unsigned>(limits.idle_max.count()), MHD_OPTION_CONNECTION_MEMORY_LIMIT, header_bytes_max,
      MHD_OPTION_NOTIFY_COMPLETED, &Impl::completed, nullptr, MHD_OPTION_END);
  if (impl->daemon == nullptr) {
    return fail(ErrorKind::internal,
                "the API cannot be started: " + std::error_code(errno, std::generic_category()).message(),
                impl->socket.path(), "check the limits on threads and open files");
  }
  return std::unique_ptr<Api>(new Api(std::move(impl)));
}

}  // namespace guideway
