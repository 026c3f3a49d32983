// API fixture: an API on a socket of its own, asked by a library and byte by byte.
#pragma once

#include <curl/curl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

#include "../state/scratch_directory.h"
#include "control/api.h"
#include "control_fixture.h"

namespace guideway {

struct ApiReply {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string body;
};

inline std::size_t append_body(char* data, std::size_t size, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

inline ApiReply request(const std::string& socket, const std::string& path, const std::string* body = nullptr,
                        const char* method = nullptr) {
  ApiReply reply;
  CURL* handle = curl_easy_init();
  curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, socket.c_str());
  curl_easy_setopt(handle, CURLOPT_URL, ("http://guideway" + path).c_str());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, append_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &reply.body);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT, 20L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  if (body != nullptr) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body->data());
  }
  if (method != nullptr) curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
  reply.code = curl_easy_perform(handle);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply.status);
  curl_easy_cleanup(handle);
  return reply;
}

class ApiTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(director_.controller.start()); }
  std::unique_ptr<Api> start(ApiLimits limits = {}) {
    auto socket = ApiSocket::open(path_);
    EXPECT_TRUE(socket) << socket.error().text();
    auto api = Api::start(
        std::move(*socket),
        [this](const Arguments& arguments) { return director_.controller.run(arguments); }, limits);
    EXPECT_TRUE(api) << api.error().text();
    return std::move(*api);
  }

  ScratchDirectory scratch_;
  std::string path_ = (scratch_.path() / "api.sock").string();
  ControlledDirector director_;
};

// Bytes as they are, without a library between.
inline std::string raw(const std::string& path, const std::string& bytes) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  std::string out;
  timeval limit{5, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) {
    shutdown(descriptor, SHUT_WR);
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = recv(descriptor, part.data(), part.size(), 0)) > 0;) {
      out.append(part.data(), static_cast<std::size_t>(got));
    }
  }
  close(descriptor);
  return out;
}

}  // namespace guideway
