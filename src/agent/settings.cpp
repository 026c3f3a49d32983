#include "agent/settings.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <iterator>

#include "toml/key_depth.h"
#include "toml/near_match.h"
#include "toml/text_file.h"

namespace guideway::agent {
namespace {

template <class T>
void tidy(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::string place(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}:{}", path, source.begin.line, source.begin.column);
}

// A key's value as strings: an array of strings, or one string.
Result<std::vector<std::string>> strings(const toml::node& node) {
  if (const auto one = node.value_exact<std::string>()) return std::vector{*one};
  std::vector<std::string> out;
  const toml::array* array = node.as_array();
  if (!array) return fail(ErrorKind::invalid, "this is no list of addresses", {}, "write [\"10.0.0.2\", …]");
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text) return fail(ErrorKind::invalid, "an address is no string", {}, "put it in double quotes");
    out.push_back(*text);
  }
  return out;
}

Result<std::string> string(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  return fail(ErrorKind::invalid, "this is no string", {}, "put it in double quotes");
}

// Stores parse(raw(node)) into `into`, or answers why not.
template <class Out, class Raw, class Parse>
Result<void> take(const toml::node& node, Raw raw, Parse parse, std::optional<Out>& into) {
  const auto text = raw(node);
  if (!text) return tl::unexpected(text.error());
  auto value = parse(*text);
  if (!value) return tl::unexpected(value.error());
  into = std::move(*value);
  return {};
}

Result<std::int64_t> integer(const toml::node& node) {
  if (const auto number = node.value_exact<std::int64_t>()) return *number;
  return fail(ErrorKind::invalid, "this is no number", {}, "write it without quotes");
}

Result<std::string> as_is(const std::string& text) { return text; }

struct KeyReader {
  std::string_view name;
  Result<void> (*read)(const toml::node& node, Settings& out);
};

// The one list of keys.
constexpr KeyReader keys[] = {
    {"interface", [](const toml::node& n, Settings& out) { return take(n, string, as_is, out.interface); }},
    {"directors",
     [](const toml::node& n, Settings& out) { return take(n, strings, parse_prefixes, out.directors); }},
    {"peers", [](const toml::node& n, Settings& out) { return take(n, strings, parse_prefixes, out.peers); }},
    {"services",
     [](const toml::node& n, Settings& out) { return take(n, strings, parse_prefixes, out.services); }},
    {"local",
     [](const toml::node& n, Settings& out) { return take(n, strings, parse_addresses, out.local); }},
    {"mode", [](const toml::node& n, Settings& out) { return take(n, string, parse_mode, out.mode); }},
    {"udp_port",
     [](const toml::node& n, Settings& out) { return take(n, integer, parse_udp_port, out.udp_port); }},
};

// Its place is the key's, not the value's.
Error unknown_key(std::string_view word) {
  std::vector<std::string> known;
  for (const KeyReader& key : keys) known.emplace_back(key.name);
  const auto meant = near_match(word, known);
  return {ErrorKind::invalid,
          fmt::format("there is no key \"{}\"", word),
          {},
          meant ? fmt::format("did you mean \"{}\"?", *meant)
                : fmt::format("known keys: {}", fmt::join(known, ", "))};
}

// The error, if the key is none or its value is wrong.
std::optional<Error> read_key(const std::string& path, const toml::key& word, const toml::node& node,
                              Settings& out) {
  const KeyReader* key = std::find_if(std::begin(keys), std::end(keys),
                                      [&](const KeyReader& k) { return k.name == word.str(); });
  if (key == std::end(keys)) {
    Error error = unknown_key(word.str());
    error.where = place(path, word.source());
    return error;
  }
  const auto done = key->read(node, out);
  if (done) return std::nullopt;
  Error error = done.error();
  error.kind = ErrorKind::invalid;
  error.where = place(path, node.source());
  return error;
}

}  // namespace

Result<Mode> parse_mode(const std::string& text) {
  if (text == "auto") return Mode::automatic;
  if (text == "native") return Mode::native;
  if (text == "generic") return Mode::generic;
  return fail(ErrorKind::usage, fmt::format("\"{}\" is no mode", text), {}, "use auto, native or generic");
}

Result<std::uint16_t> parse_udp_port(std::int64_t port) {
  if (port >= 1 && port <= 65535) return static_cast<std::uint16_t>(port);
  return fail(ErrorKind::usage, fmt::format("UDP port {} is out of range", port), {}, "use 1 to 65535");
}

Result<std::vector<Prefix>> parse_prefixes(const std::vector<std::string>& texts) {
  std::vector<Prefix> out;
  for (const std::string& text : texts) {
    const auto prefix = parse_prefix(text);
    if (!prefix) return tl::unexpected(prefix.error());
    out.push_back(*prefix);
  }
  tidy(out);
  return out;
}

Result<std::vector<IpAddress>> parse_addresses(const std::vector<std::string>& texts) {
  std::vector<IpAddress> out;
  for (const std::string& text : texts) {
    const auto address = IpAddress::parse(text);
    if (!address)
      return fail(ErrorKind::usage, fmt::format("\"{}\" is no IPv4 or IPv6 address", text), {},
                  "write 10.0.0.11 or fd00::11");
    out.push_back(*address);
  }
  tidy(out);
  return out;
}

Result<Settings> read_settings_file(const std::string& path) {
  const auto read = read_text(path);
  if (!read) return tl::unexpected(read.error());
  const std::string& text = *read;
  if (const auto line = line_of_deep_key(text))
    return fail(ErrorKind::invalid, "a key has more than 64 parts with dots between them",
                fmt::format("{}:{}", path, *line), "write each key as the documentation has it");
  try {
    const toml::table file = toml::parse(text);
    Settings out;
    for (const auto& [key, node] : file)
      if (auto error = read_key(path, key, node, out)) return tl::unexpected(std::move(*error));
    return out;
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::invalid, std::string(error.description()), place(path, error.source()),
                "mend the file's syntax");
  }
}

Settings merged(Settings under, const Settings& over) {
  const auto lay = [](auto& below, const auto& above) {
    if (above) below = above;
  };
  lay(under.interface, over.interface);
  lay(under.directors, over.directors);
  lay(under.peers, over.peers);
  lay(under.services, over.services);
  lay(under.local, over.local);
  lay(under.mode, over.mode);
  lay(under.udp_port, over.udp_port);
  return under;
}

}  // namespace guideway::agent
