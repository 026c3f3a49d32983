// Exchange: one HTTP request over a unix socket, and its answer.
// What: sends a POST, reads the answer to its end; bounded in time and size.
// Why:  the client lives for one question: of its run time, most went into loading a general HTTP client and the thirty
//       libraries behind it (TLS, LDAP, Kerberos), none of which a unix socket needs.
// Not:  what is asked and answered (client.h), reading HTTP (libhttp_parser does).
#pragma once

#include <chrono>
#include <string>

#include "guideway/fd.h"
#include "guideway/result.h"

namespace guideway {

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

struct ExchangeLimits {
  std::chrono::seconds answer_max{120};
  std::size_t body_bytes_max = std::size_t{1} << 30;  // 5 million rows are some 200 MB
};

// no_daemon when nobody is there.
[[nodiscard]] Result<Fd> connect_to(const std::string& socket,
                                    std::chrono::seconds connect_max = std::chrono::seconds(5));

// Over a connection to `socket` that nothing was sent over yet. no_daemon when the answer breaks off or does not come in
// time.
[[nodiscard]] Result<HttpAnswer> post(const Fd& connection, const std::string& socket,
                                      const std::string& path, const std::string& body,
                                      const ExchangeLimits& limits = {});

}  // namespace guideway
