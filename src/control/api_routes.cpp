#include "control/api_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "command/json_text.h"
#include "command/parser.h"
#include "command/run.h"
#include "toml/near_match.h"

namespace guideway {

using nlohmann::json;

namespace {

constexpr std::string_view prefix = "/v1/";
// A body without a file in it; whatever its size, it holds a few words.
constexpr std::size_t command_bytes_max = std::size_t{1} << 20, command_values_max = 1024;

unsigned status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::refused:
      return 409;
    case ErrorKind::invalid:
    case ErrorKind::usage:
      return 400;
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::stale:
      return 412;
    case ErrorKind::no_daemon:
      return 503;
    case ErrorKind::timeout:
      return 504;
    case ErrorKind::in_doubt:
    case ErrorKind::internal:
      break;
  }
  return 500;
}

Error bad(std::string what, std::string where, std::string next) {
  return {ErrorKind::invalid, std::move(what), std::move(where), std::move(next)};
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    out.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return out;
}

// The words of the command whose resource the path is; "pools/web" is `pool show web`.
std::optional<std::vector<std::string>> words_of(const Command& command,
                                                 const std::vector<std::string>& path) {
  if (command.resource.empty()) return std::nullopt;
  const std::vector<std::string> pattern = segments(command.resource);
  if (pattern.size() != path.size()) return std::nullopt;
  std::vector<std::string> words{std::string(command.object)};
  if (!command.verb.empty()) words.emplace_back(command.verb);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (std::isupper(static_cast<unsigned char>(pattern[i].front())) != 0) {
      words.push_back(path[i]);
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return words;
}

std::vector<std::string> resources() {
  std::vector<std::string> out{"version", "commands"};
  for (const Command& command : commands()) {
    if (!command.resource.empty()) out.emplace_back(command.resource);
  }
  return out;
}

ApiResponse json_response(const Result<json>& result) {
  if (!result) return error_response(result.error());
  ApiResponse out;
  out.body = json_text(*result) + "\n";
  if (result->is_object() && result->contains("epoch"))
    out.etag = fmt::format("\"{}\"", (*result)["epoch"].dump());
  return out;
}

ApiResponse not_allowed(std::string_view path, std::string allow) {
  ApiResponse out =
      error_response({ErrorKind::usage, "this method is not known here", std::string(path), "use " + allow});
  out.status = 405;
  out.allow = std::move(allow);
  return out;
}

ApiResponse run_words(const CommandRunner& run, const std::vector<std::string>& words) {
  const auto arguments = parse_command(words);
  if (!arguments) return error_response(arguments.error());
  return json_response(run(*arguments));
}

ApiResponse get_site(const CommandRunner& run, const ApiRequest& request) {
  const auto arguments = parse_command(std::vector<std::string>{"site", "export"});
  if (!arguments) return error_response(arguments.error());
  const auto site = run(*arguments);
  ApiResponse out = json_response(site);
  if (!site || request.accept.find("application/json") != std::string::npos) return out;
  out.body = site->at("site").get<std::string>();
  out.type = "application/toml";
  return out;
}

// If-Match: "7"; absent and * stand for any epoch.
Result<std::optional<Epoch>> epoch_of(std::string_view if_match) {
  if (if_match.empty() || if_match == "*") return std::optional<Epoch>{};
  std::string_view text = if_match;
  if (text.size() > 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return tl::unexpected<Error>(bad(fmt::format("\"{}\" is no epoch", if_match), "If-Match",
                                     "send the ETag that GET /v1/site answered with"));
  }
  return std::optional<Epoch>{Epoch{value}};
}

ApiResponse put_site(const CommandRunner& run, const ApiRequest& request) {
  const auto epoch = epoch_of(request.if_match);
  if (!epoch) return error_response(epoch.error());
  auto arguments = parse_command(std::vector<std::string>{"apply", "site.toml"});
  if (!arguments) return error_response(arguments.error());
  arguments->input = request.body;
  arguments->asked_by = request.asked_by;
  arguments->expect_epoch = *epoch;
  return json_response(run(*arguments));
}

Result<std::vector<std::string>> command_words(const json& command) {
  if (command.is_string()) return split_words(command.get_ref<const std::string&>());
  const auto refuse = [] {
    return tl::unexpected<Error>(bad("\"command\" is neither a string nor a list of strings", "body",
                                     "send {\"command\": \"backend drain web web-1\"}"));
  };
  if (!command.is_array()) return refuse();
  std::vector<std::string> words;
  for (const json& word : command) {
    if (!word.is_string()) return refuse();
    words.push_back(word.get<std::string>());
  }
  return words;
}

Result<bool> flag_of(const json& body, const char* key) {
  if (!body.contains(key)) return false;
  if (body[key].is_boolean()) return body[key].get<bool>();
  return tl::unexpected<Error>(
      bad(fmt::format("\"{}\" is neither true nor false", key), "body", "send true or false"));
}

Result<void> read_fields(const json& body, Arguments& out) {
  const auto dry_run = flag_of(body, "dry_run");
  if (!dry_run) return tl::unexpected<Error>(dry_run.error());
  const auto force = flag_of(body, "force");
  if (!force) return tl::unexpected<Error>(force.error());
  out.dry_run = out.dry_run || *dry_run;
  out.force = out.force || *force;
  if (body.contains("expect_epoch")) {
    if (!body["expect_epoch"].is_number_unsigned()) {
      return tl::unexpected<Error>(bad("\"expect_epoch\" is no epoch", "body", "send a whole number"));
    }
    out.expect_epoch = Epoch{body["expect_epoch"].get<std::uint64_t>()};
  }
  if (body.contains("input")) {
    if (!body["input"].is_string()) {
      return tl::unexpected<Error>(bad("\"input\" is no string", "body", "send the text of the file"));
    }
    out.input = body["input"].get<std::string>();
  }
  return {};
}

// What only a client can do is refused here, with how to do it.
Result<void> check_for_server(const Arguments& arguments, const json& body) {
  if (arguments.has("wait")) {
    return fail(ErrorKind::usage, "waiting is the client's part", "--wait",
                "drain without it, then ask GET /v1/backends until the backend's live_flows is 0");
  }
  for (const Parameter& parameter : arguments.command->positionals) {
    if (parameter.kind != Kind::file || !arguments.has(parameter.name) || body.contains("input")) continue;
    return fail(ErrorKind::usage, "the daemon reads no file for a client", std::string(parameter.name),
                "send the file's text as \"input\"");
  }
  return {};
}

Result<Arguments> read_command(const std::string& text) {
  const json body = parse_json(text, command_values_max);
  if (!body.is_object()) {
    return tl::unexpected<Error>(bad("the body is no JSON object of a command", "body",
                                     "send {\"command\": \"backend drain web web-1\"}"));
  }
  const std::vector<std::string> known{"command", "dry_run", "force", "expect_epoch", "input"};
  for (const auto& [key, value] : body.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return tl::unexpected<Error>(
        bad(fmt::format("there is no field \"{}\"", key), "body", advice_for(key, known, "a command")));
  }
  if (!body.contains("command")) {
    return tl::unexpected<Error>(
        bad("the body has no \"command\"", "body", "send {\"command\": \"backend drain web web-1\"}"));
  }
  const auto words = command_words(body["command"]);
  if (!words) return tl::unexpected<Error>(words.error());
  auto arguments = parse_command(*words);
  if (!arguments) return arguments;
  const auto& positionals = arguments->command->positionals;
  if (text.size() > command_bytes_max &&
      std::none_of(positionals.begin(), positionals.end(),
                   [](const Parameter& parameter) { return parameter.kind == Kind::file; })) {
    return tl::unexpected<Error>(
        bad(fmt::format("the body has {} bytes", text.size()), "body",
            fmt::format("only a command that takes a file may have more than {}", command_bytes_max)));
  }
  if (auto good = read_fields(body, *arguments); !good) return tl::unexpected<Error>(good.error());
  if (auto good = check_for_server(*arguments, body); !good) return tl::unexpected<Error>(good.error());
  return arguments;
}

ApiResponse post_command(const CommandRunner& run, const ApiRequest& request) {
  auto arguments = read_command(request.body);
  if (!arguments) return error_response(arguments.error());
  arguments->asked_by = request.asked_by;
  return json_response(run(*arguments));
}

ApiResponse get_resource(const CommandRunner& run, const ApiRequest& request, const std::string& resource) {
  const std::vector<std::string> path = segments(resource);
  for (const Command& command : commands()) {
    const auto words = words_of(command, path);
    if (!words) continue;
    return request.method == "GET" ? run_words(run, *words) : not_allowed(request.path, "GET");
  }
  return error_response({ErrorKind::not_found, "there is no such resource", request.path,
                         advice_for(resource, resources(), "/v1")});
}

}  // namespace

ApiResponse error_response(const Error& error) {
  ApiResponse out;
  out.status = status_of(error.kind);
  out.body = json_text(error_json(error)) + "\n";
  return out;
}

ApiResponse answer(const CommandRunner& run, const ApiRequest& request) {
  if (!request.path.starts_with(prefix)) {
    return error_response(
        {ErrorKind::not_found, "the API begins with /v1/", request.path, "ask GET /v1/status"});
  }
  const std::string resource = request.path.substr(prefix.size());
  if (resource.empty())
    return request.method == "GET" ? json_response(json{{"resources", resources()}})
                                   : not_allowed(request.path, "GET");
  if (resource == "version") {
    if (request.method != "GET") return not_allowed(request.path, "GET");
    return json_response(json{{"version", GUIDEWAY_VERSION}, {"api", 1}, {"contract", 1}});
  }
  if (resource == "site") {
    if (request.method == "GET") return get_site(run, request);
    return request.method == "PUT" ? put_site(run, request) : not_allowed(request.path, "GET, PUT");
  }
  if (resource == "commands") {
    return request.method == "POST" ? post_command(run, request) : not_allowed(request.path, "POST");
  }
  return get_resource(run, request, resource);
}

}  // namespace guideway
