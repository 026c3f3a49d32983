#include "command/run.h"

#include <array>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

namespace guideway {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 9> kind_names{"refused",   "invalid", "usage",    "not_found", "stale",
                                                     "no_daemon", "timeout", "in_doubt", "internal"};
static_assert(static_cast<std::size_t>(ErrorKind::internal) + 1 == kind_names.size(),
              "every kind has a name");

std::string string_of(const json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<json> run_command(Context& context, const Arguments& arguments) {
  const Command& command = *arguments.command;
  if (command.reach == Reach::daemon && context.live() == nullptr) {
    return fail(ErrorKind::usage, "`" + command.name() + "` is a question to a running director", {},
                "leave out --site");
  }
  if (command.reach == Reach::client && context.live() != nullptr) {
    return fail(ErrorKind::usage, "`" + command.name() + "` is no work for a director", {},
                "ask `guideway " + command.name() + "` on any host; it needs no daemon");
  }
  // Handlers use the JSON library, which throws on a wrong type: a mistake of ours, told as one.
  try {
    return command.handler(context, arguments);
  } catch (const std::exception& exception) {
    return tl::unexpected<Error>(failed_inside(exception, command));
  }
}

Error failed_inside(const std::exception& exception, const Command& command) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr)
    return {
        ErrorKind::internal, "there is no memory left for this", command.name(),
        "free memory on this host, or ask for less at a time; `guideway status` tells where the site stands"};
  return {ErrorKind::internal, std::string("the command failed inside: ") + exception.what(), command.name(),
          "please report this; `guideway status` tells where the site stands"};
}

json error_json(const Error& error) {
  return {{"error", error.what},
          {"where", error.where},
          {"next", error.next},
          {"kind", kind_names[static_cast<std::size_t>(error.kind)]}};
}

Error error_of(const json& body) {
  if (!body.is_object() || string_of(body, "error").empty()) {
    return {
        ErrorKind::internal, "the answer is no error of this API", {}, "is this the socket of guidewayd?"};
  }
  Error out{ErrorKind::refused, string_of(body, "error"), string_of(body, "where"), string_of(body, "next")};
  const std::string kind = string_of(body, "kind");
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (kind_names[i] == kind) out.kind = static_cast<ErrorKind>(i);
  }
  return out;
}

}  // namespace guideway
