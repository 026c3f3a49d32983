#include "cli/client.h"

#include <nlohmann/json.hpp>

#include "cli/exchange.h"
#include "command/json_text.h"
#include "command/run.h"

namespace guideway {

using nlohmann::json;

Result<Fd> Client::connect() const { return connect_to(socket_); }

Result<json> Client::ask(const std::vector<std::string>& words, const std::string* input, bool* cut) const {
  const auto connection = connect();
  if (!connection) return tl::unexpected<Error>(connection.error());
  return ask(*connection, words, input, cut);
}

Result<json> Client::ask(const Fd& connection, const std::vector<std::string>& words,
                         const std::string* input, bool* cut) const {
  json body{{"command", words}};
  if (input != nullptr) body["input"] = *input;
  const auto answer = post(connection, socket_, "/v1/commands", json_text(body), {.answer_max = answer_max_});
  if (!answer && cut != nullptr) *cut = true;
  if (!answer) return tl::unexpected<Error>(answer.error());
  json parsed = parse_json(answer->body);
  if (parsed.is_discarded()) {
    return fail(ErrorKind::internal, "the answer is no JSON", socket_, "is this the socket of guidewayd?");
  }
  if (answer->status != 200) return tl::unexpected<Error>(error_of(parsed));
  return parsed;
}

}  // namespace guideway
