// Result: how a function that can be refused answers.
// What: a value or one Error; an Error is a sentence for a person, with the place and the next step.
// Why:  every message of the product says what, where and what to do next; one type keeps it so.
// Not:  for the data plane, which answers with verdicts and counters.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace guideway {

// Decides the exit code and the HTTP status; never the text.
enum class ErrorKind {
  refused,    // understood, not done: exit 1, HTTP 409
  invalid,    // the input itself is wrong: exit 1, HTTP 400
  usage,      // the command line is wrong: exit 2, HTTP 400
  not_found,  // no such object: exit 1, HTTP 404
  stale,      // names an older epoch: exit 1, HTTP 412
  no_daemon,  // nobody answers on the socket: exit 3
  timeout,    // time is up: exit 4, HTTP 504
  in_doubt,   // a change that is in force, or may be, and could not be answered: exit 5, HTTP 500
  internal,   // ours: exit 1, HTTP 500
};

struct Error {
  ErrorKind kind = ErrorKind::refused;
  std::string what;   // "weight 70000 is above 65535"
  std::string where;  // "site.toml:12:9"; empty where there is no place
  std::string next;   // "use a weight from 1 to 65535"; empty where nothing can be advised

  // "where: what; next", leaving out what is empty.
  [[nodiscard]] std::string text() const {
    std::string out = where.empty() ? what : where + ": " + what;
    if (!next.empty()) out += "; " + next;
    return out;
  }
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

// fail(ErrorKind::refused, "what", "where", "next") as the return value of any Result function.
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string where = {},
                                                std::string next = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(what), std::move(where), std::move(next)});
}

}  // namespace guideway
