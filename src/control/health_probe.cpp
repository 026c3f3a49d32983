#include "control/health_probe.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

namespace guideway {
namespace {

using Outcome = ProbeResult::Outcome;

bool own_lack(long error) {
  constexpr std::array ours = {EMFILE, ENFILE, ENOMEM, ENOBUFS, EADDRNOTAVAIL, EADDRINUSE, EAGAIN};
  return std::ranges::find(ours, error) != ours.end();
}

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string seconds_text(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{}s", time.count() / 1000)
                                  : fmt::format("{}ms", time.count());
}

// One transfer, from start() to its result.
struct Probe {
  std::uint64_t id = 0;
  HealthCheck check;
  std::unique_ptr<CURL, void (*)(CURL*)> transfer{curl_easy_init(), curl_easy_cleanup};
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers{nullptr, curl_slist_free_all};
  std::size_t header_bytes = 0, body_bytes = 0;
  int socket_error = 0;  // libcurl does not say why it got no socket
};

curl_socket_t open_socket(void* to, curlsocktype, curl_sockaddr* where) {
  const int descriptor = socket(where->family, where->socktype | SOCK_CLOEXEC, where->protocol);
  if (descriptor < 0) static_cast<Probe*>(to)->socket_error = errno;
  return descriptor;
}

std::size_t take_header(char*, std::size_t size, std::size_t count, void* to) {
  auto& probe = *static_cast<Probe*>(to);
  probe.header_bytes += size * count;
  return probe.header_bytes > HealthProbes::answer_bytes_max ? 0 : size * count;  // 0 ends the transfer
}

std::size_t take_body(char*, std::size_t size, std::size_t count, void* to) {
  auto& probe = *static_cast<Probe*>(to);
  probe.body_bytes += size * count;
  return probe.body_bytes > HealthProbes::answer_bytes_max ? 0 : size * count;
}

std::string url_of(const IpAddress& address, const HealthCheck& check) {
  const bool slash = check.path.starts_with('/');
  const std::string host = address.family == Family::ipv6 ? "[" + address.text() + "]" : address.text();
  return fmt::format("http://{}:{}{}{}", host, check.port, slash ? "" : "/", check.path);
}

// A Host header must not become two headers; the path is checked by libcurl.
bool printable(const std::string& text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

void set_up(Probe& probe, const IpAddress& address) {
  CURL* transfer = probe.transfer.get();
  const auto timeout = std::max(1L, static_cast<long>(probe.check.timeout.count()));  // 0 would be none
  curl_easy_setopt(transfer, CURLOPT_URL, url_of(address, probe.check).c_str());
  curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http");
  curl_easy_setopt(transfer, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, timeout);
  curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS, timeout);
  curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(transfer, CURLOPT_PROXY, "");  // never what the environment says
  curl_easy_setopt(transfer, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(transfer, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(transfer, CURLOPT_USERAGENT, "guideway/" GUIDEWAY_VERSION);
  curl_easy_setopt(transfer, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  curl_easy_setopt(transfer, CURLOPT_OPENSOCKETDATA, &probe);
  curl_easy_setopt(transfer, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(transfer, CURLOPT_HEADERDATA, &probe);
  curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(transfer, CURLOPT_WRITEDATA, &probe);
  curl_easy_setopt(transfer, CURLOPT_PRIVATE, &probe);
  if (probe.check.type == HealthCheckType::tcp) curl_easy_setopt(transfer, CURLOPT_CONNECT_ONLY, 1L);
  if (!probe.check.host.empty() && printable(probe.check.host)) {
    probe.headers.reset(curl_slist_append(nullptr, ("Host: " + probe.check.host).c_str()));
    curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, probe.headers.get());
  }
}

ProbeResult judge_http(const Probe& probe) {
  long status = 0;
  curl_easy_getinfo(probe.transfer.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status <= 299) return {probe.id, Outcome::passed, {}};
  return {probe.id, Outcome::failed, fmt::format("HTTP {}", status)};
}

ProbeResult judge(const Probe& probe, CURLcode code) {
  long error = 0;
  curl_easy_getinfo(probe.transfer.get(), CURLINFO_OS_ERRNO, &error);
  if (probe.socket_error != 0) error = probe.socket_error;
  const auto failed = [&](std::string text) {
    return ProbeResult{probe.id, Outcome::failed, std::move(text)};
  };
  switch (code) {
    case CURLE_OK:
      return probe.check.type == HealthCheckType::tcp ? ProbeResult{probe.id, Outcome::passed, {}}
                                                      : judge_http(probe);
    case CURLE_WRITE_ERROR:  // we cut it off
      if (probe.body_bytes > HealthProbes::answer_bytes_max) return judge_http(probe);
      return failed(fmt::format("headers of more than {} bytes", HealthProbes::answer_bytes_max));
    case CURLE_OPERATION_TIMEDOUT:
      return failed("timed out after " + seconds_text(probe.check.timeout));
    case CURLE_OUT_OF_MEMORY:
      return {probe.id, Outcome::not_made, "out of memory"};
    case CURLE_COULDNT_CONNECT:
      if (own_lack(error))
        return {probe.id, Outcome::not_made, lower_first(std::strerror(static_cast<int>(error)))};
      return failed(error == 0 ? "cannot connect" : lower_first(std::strerror(static_cast<int>(error))));
    case CURLE_GOT_NOTHING:
      return failed("closed without an answer");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return failed("the answer is not HTTP");
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      return failed(error == ECONNRESET ? "connection reset" : "connection lost");
    default:
      return failed(lower_first(curl_easy_strerror(code)));
  }
}

}  // namespace

struct HealthProbes::Impl {
  std::unique_ptr<CURLM, CURLMcode (*)(CURLM*)> multi{curl_multi_init(), curl_multi_cleanup};
  std::map<std::uint64_t, std::unique_ptr<Probe>> probes;
  std::vector<ProbeResult> ended;  // without having run

  ~Impl() {
    for (auto& [id, probe] : probes) curl_multi_remove_handle(multi.get(), probe->transfer.get());
  }
};

HealthProbes::HealthProbes(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HealthProbes::HealthProbes(HealthProbes&&) noexcept = default;
HealthProbes& HealthProbes::operator=(HealthProbes&&) noexcept = default;
HealthProbes::~HealthProbes() = default;

Result<HealthProbes> HealthProbes::open() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto impl = std::make_unique<Impl>();
  if (ready != CURLE_OK || !impl->multi)
    return fail(ErrorKind::internal, "health: libcurl does not start", {},
                "check the memory and the libcurl package");
  return HealthProbes(std::move(impl));
}

void HealthProbes::start(std::uint64_t id, const IpAddress& address, const HealthCheck& check) {
  auto probe = std::make_unique<Probe>();
  probe->id = id;
  probe->check = check;
  if (!probe->transfer) {
    impl_->ended.push_back({id, Outcome::not_made, "out of memory"});
    return;
  }
  set_up(*probe, address);
  CURL* transfer = probe->transfer.get();
  const auto place = impl_->probes.emplace(id, std::move(probe)).first;
  if (curl_multi_add_handle(impl_->multi.get(), transfer) == CURLM_OK) return;
  impl_->probes.erase(place);
  impl_->ended.push_back({id, Outcome::not_made, "out of memory"});
}

void HealthProbes::cancel(std::uint64_t id) {
  std::erase_if(impl_->ended, [&](const ProbeResult& result) { return result.id == id; });
  const auto at = impl_->probes.find(id);
  if (at == impl_->probes.end()) return;
  curl_multi_remove_handle(impl_->multi.get(), at->second->transfer.get());
  impl_->probes.erase(at);
}

std::size_t HealthProbes::running() const { return impl_->probes.size(); }

std::vector<ProbeResult> HealthProbes::run(std::chrono::milliseconds limit) {
  std::vector<ProbeResult> out = std::exchange(impl_->ended, {});
  CURLM* multi = impl_->multi.get();
  int active = 0;
  curl_multi_perform(multi, &active);
  if (out.empty() && active == static_cast<int>(impl_->probes.size())) {  // nothing ended yet
    curl_multi_poll(multi, nullptr, 0, static_cast<int>(limit.count()), nullptr);
    curl_multi_perform(multi, &active);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Probe* probe = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &probe);
    out.push_back(judge(*probe, message->data.result));
    cancel(probe->id);
  }
  return out;
}

void HealthProbes::wake() { curl_multi_wakeup(impl_->multi.get()); }

}  // namespace guideway
