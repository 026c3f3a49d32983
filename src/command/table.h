// Table of commands: the one place that says which commands there are.
// What: object, verb, parameters, help, effect, handler and text renderer of each; the parser, --help, the
//       man page, the shell's completion and the API's routes are all read from it.
// Why:  what is documented, what is completed and what is accepted cannot drift apart.
// Not:  how words become arguments (parser.h), who runs a handler (run.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/arguments.h"
#include "command/context.h"
#include "guideway/result.h"

namespace guideway {

// What a word on the command line may be; values.h has a parser for each.
enum class Kind : std::uint8_t {
  pool,
  backend,
  service,
  new_name,  // of an object that is to be made
  address,
  prefix,    // an address or a prefix
  ports,     // "80,443,8000-8099" or "any"
  endpoint,  // "198.51.100.7:40000", "[2001:db8::7]:40000"
  weight,
  number,
  seed,
  duration,  // "30s", "2m", "500ms"
  check,     // "tcp:80", "http:8080/healthz", "none"
  word,      // one of the words in `value`
  flag,      // no value
  text,      // read by the handler alone
  file,      // read by the client; the text is Arguments::input
  command,   // the rest of the line
};

struct Parameter {
  std::string_view name;  // positional: "POOL"; option: "weight", without the dashes
  Kind kind = Kind::word;
  std::string_view value;  // how help shows an option's value ("N"); the choices of a word ("up|down|auto")
  std::string_view help;
  bool optional = false;  // options always are
};

enum class Effect : std::uint8_t { read, change };

// Who can answer.
enum class Reach : std::uint8_t {
  any,     // a daemon, or anybody with the site's file
  daemon,  // only a running director
  local,   // needs no site: answered by the client itself
  client,  // as local, and too much work for a director
};

using Handler = Result<nlohmann::json> (*)(Context& context, const Arguments& arguments);
// The answer as text for a person; lines end with \n. `color`: the reader is a terminal.
using Renderer = std::string (*)(const nlohmann::json& answer, bool color);

struct Command {
  std::string_view object;  // "backend"
  std::string_view verb;    // "drain"; empty: the object alone is the command
  std::vector<Parameter> positionals;
  std::vector<Parameter> options;
  std::string_view help;  // one line
  Effect effect = Effect::read;
  Reach reach = Reach::any;
  bool default_verb = false;       // also meant by the object alone
  std::string_view resource = {};  // GET /v1/<resource>; words in capitals are positionals
  Handler handler = nullptr;
  Renderer renderer = nullptr;
  std::string_view details = {};  // more for --help and the man page
  bool plans = true;              // a change of the site: --dry-run and --force mean something

  [[nodiscard]] std::string name() const {  // "backend drain"
    return verb.empty() ? std::string(object) : std::string(object) + " " + std::string(verb);
  }
};

[[nodiscard]] std::span<const Command> commands();
// Options that every changing command has: force, dry-run, expect-epoch.
[[nodiscard]] std::span<const Parameter> change_options();
// Those of them that this command takes.
[[nodiscard]] std::span<const Parameter> change_options(const Command& command);
// Options of the program itself: json, socket, site, director, help, version.
[[nodiscard]] std::span<const Parameter> program_options();
// nullptr where there is none.
[[nodiscard]] const Command* find_command(std::string_view object, std::string_view verb);

}  // namespace guideway
