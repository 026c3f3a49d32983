#include "cli/client.h"

#include <curl/curl.h>

#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "command/run.h"

namespace guideway {

using nlohmann::json;

namespace {

constexpr long connect_seconds_max = 5;
constexpr long answer_seconds_max = 120;
constexpr std::size_t answer_bytes_max = std::size_t{1} << 30;  // 5 million rows are some 200 MB

struct Answer {
  std::string body;
  long status = 0;
};

std::size_t take(char* data, std::size_t size, std::size_t count, void* to) noexcept {
  auto& body = *static_cast<std::string*>(to);
  if (size * count > answer_bytes_max - body.size()) return 0;
  body.append(data, size * count);
  return size * count;
}

Error unreachable(CURL* handle, CURLcode code, const std::string& socket) {
  long os_error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &os_error);
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return {ErrorKind::timeout, "the daemon does not answer in time", socket, "look at its log"};
  }
  if (code != CURLE_COULDNT_CONNECT) {
    return {ErrorKind::no_daemon, std::string("the daemon's answer broke off: ") + curl_easy_strerror(code),
            socket, "look at its log"};
  }
  if (os_error == EACCES || os_error == EPERM) {
    return {ErrorKind::no_daemon, "you may not open this socket", socket,
            "ask as root or as a member of the group guideway"};
  }
  return {ErrorKind::no_daemon, "no daemon answers here", socket,
          "start guidewayd, name its socket with --socket, or ask a file with --site"};
}

Result<Answer> post(const std::string& socket, const std::string& body) {
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), &curl_easy_cleanup);
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"), &curl_slist_free_all);
  if (!handle || !headers) return fail(ErrorKind::internal, "libcurl could not be set up");
  Answer out;
  curl_easy_setopt(handle.get(), CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_URL, "http://guideway/v1/commands");
  curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &out.body);
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT, connect_seconds_max);
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT, answer_seconds_max);
  const CURLcode code = curl_easy_perform(handle.get());
  if (code != CURLE_OK) return tl::unexpected<Error>(unreachable(handle.get(), code, socket));
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &out.status);
  return out;
}

}  // namespace

Result<json> Client::ask(const std::vector<std::string>& words, const std::string* input) const {
  json body{{"command", words}};
  if (input != nullptr) body["input"] = *input;
  const auto answer = post(socket_, json_text(body));
  if (!answer) return tl::unexpected<Error>(answer.error());
  json parsed = json::parse(answer->body, nullptr, false);
  if (parsed.is_discarded()) {
    return fail(ErrorKind::internal, "the answer is no JSON", socket_, "is this the socket of guidewayd?");
  }
  if (answer->status != 200) return tl::unexpected<Error>(error_of(parsed));
  return parsed;
}

}  // namespace guideway
