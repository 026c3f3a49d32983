// API routes: a request into a command, and its answer into a response.
// What: /v1/version, /v1/site, /v1/commands, and one GET a readable resource of the table of commands.
// Why:  whatever the client can do is a command of the table, so the API needs no second list.
// Not:  sockets, bytes and limits (api.h); every field here is still hostile.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "command/arguments.h"
#include "guideway/result.h"

namespace guideway {

// Runs one command; may be called by several threads.
using CommandRunner = std::function<Result<nlohmann::json>(const Arguments& arguments)>;

struct ApiRequest {
  std::string method;  // "GET"
  std::string path;    // "/v1/status"
  std::string accept;
  std::string if_match;
  std::string body;
  std::string asked_by;  // who, for the log; from the socket
};

struct ApiResponse {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  std::string etag;   // empty: none
  std::string allow;  // with 405
};

[[nodiscard]] ApiResponse answer(const CommandRunner& run, const ApiRequest& request);
[[nodiscard]] ApiResponse error_response(const Error& error);

}  // namespace guideway
