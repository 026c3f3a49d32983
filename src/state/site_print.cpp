#include <fmt/format.h>

#include <iterator>

#include "state/duration.h"
#include "state/prefix.h"
#include "state/site_file.h"
#include "state/words.h"

namespace guideway {
namespace {

using std::chrono::milliseconds;

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Collects `key = value` lines; values that are the default are left out.
class Lines {
 public:
  void add(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "{} = {}\n", key, value);
  }
  template <class T, class Print>
  void unless_default(std::string_view key, const T& value, const T& standard, Print print) {
    if (!(value == standard)) add(key, print(value));
  }
  void raw(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

const auto print_number = [](auto value) { return fmt::format("{}", value); };
const auto print_flag = [](bool value) -> std::string { return value ? "true" : "false"; };
const auto in_words = [](auto value) { return toml_string(word(value)); };
const auto print_span = [](auto value) { return toml_string(print_duration(milliseconds(value))); };
const auto print_seed = [](std::uint64_t seed) { return fmt::format("\"0x{:016x}\"", seed); };

// An inline table of the values that are not the default; nothing when all are.
class InlineTable {
 public:
  template <class T, class Print>
  void unless_default(std::string_view key, const T& value, const T& standard, Print print) {
    if (value == standard) return;
    fmt::format_to(std::back_inserter(text_), "{}{} = {}", text_.empty() ? "" : ", ", key, print(value));
  }
  void print_to(Lines& lines, std::string_view key) const {
    if (!text_.empty()) lines.add(key, fmt::format("{{ {} }}", text_));
  }

 private:
  std::string text_;
};

void print(Lines& lines, const HealthCheck& health) {
  const HealthCheck standard;
  InlineTable table;
  table.unless_default("type", health.type, standard.type, in_words);
  table.unless_default("port", health.port, standard.port, print_number);
  table.unless_default("path", health.path, standard.path, toml_string);
  table.unless_default("host", health.host, standard.host, toml_string);
  table.unless_default("interval", health.interval, standard.interval, print_span);
  table.unless_default("timeout", health.timeout, standard.timeout, print_span);
  table.unless_default("rise", health.rise, standard.rise, print_number);
  table.unless_default("fall", health.fall, standard.fall, print_number);
  table.unless_default("through_tunnel", health.through_tunnel, standard.through_tunnel, print_flag);
  table.unless_default("initial", health.initial, standard.initial, in_words);
  table.print_to(lines, "health");
}

void print(Lines& lines, const FlowTimeouts& timeouts) {
  const FlowTimeouts standard;
  InlineTable table;
  table.unless_default("new", timeouts.fresh_ms, standard.fresh_ms, print_span);
  table.unless_default("established", timeouts.established_ms, standard.established_ms, print_span);
  table.unless_default("closing", timeouts.closing_ms, standard.closing_ms, print_span);
  table.unless_default("udp", timeouts.udp_ms, standard.udp_ms, print_span);
  table.print_to(lines, "timeouts");
}

void print(Lines& lines, const Backend& backend) {
  const Backend standard;
  lines.raw("\n[[pool.backend]]\n");
  lines.add("name", toml_string(backend.name));
  lines.add("address", toml_string(backend.address.text()));
  lines.unless_default("weight", backend.weight, standard.weight, print_number);
  lines.unless_default("state", backend.state, standard.state, in_words);
}

void print(Lines& lines, const Pool& pool) {
  const Pool standard;
  lines.raw("\n[[pool]]\n");
  lines.add("name", toml_string(pool.name));
  lines.unless_default("encapsulation", pool.encapsulation, standard.encapsulation, in_words);
  lines.unless_default("rows", pool.rows, standard.rows, print_number);
  lines.unless_default("affinity", pool.affinity, standard.affinity, in_words);
  lines.unless_default("hops", pool.hop_rules.hops, standard.hop_rules.hops, print_number);
  lines.unless_default("panic", pool.hop_rules.panic, standard.hop_rules.panic, print_number);
  lines.unless_default("none_healthy", pool.hop_rules.none_healthy, standard.hop_rules.none_healthy,
                       in_words);
  lines.unless_default("deal", pool.deal, standard.deal, in_words);
  if (pool.seed) lines.add("seed", print_seed(*pool.seed));
  if (!pool.copy_tos) lines.add("tos", "\"zero\"");
  lines.unless_default("flow_table", pool.flow_table, standard.flow_table, print_flag);
  lines.unless_default("gue_port", pool.gue_port, standard.gue_port, print_number);
  lines.unless_default("udp_checksum", pool.udp_checksum, standard.udp_checksum, print_flag);
  lines.unless_default("too_big", pool.too_big, standard.too_big, in_words);
  lines.unless_default("on_down", pool.on_down, standard.on_down, in_words);
  print(lines, pool.timeouts);
  print(lines, pool.health);
  for (const Backend& backend : pool.backends) print(lines, backend);
}

std::string toml_ports(const std::vector<PortRange>& ports) {
  if (ports.empty()) return "\"any\"";
  std::string out;
  for (const PortRange& range : ports) {
    if (!out.empty()) out += ", ";
    out += range.first == range.last ? fmt::format("{}", range.first)
                                     : fmt::format("\"{}-{}\"", range.first, range.last);
  }
  return "[" + out + "]";
}

void print(Lines& lines, const Service& service) {
  const Service standard;
  lines.raw("\n[[service]]\n");
  lines.add("name", toml_string(service.name));
  lines.add("address", toml_string(prefix_text(service.address, service.prefix_length)));
  lines.add("protocol", toml_string(protocol_word(service.protocol)));
  lines.add("ports", toml_ports(service.ports));
  lines.add("pool", toml_string(service.pool));
  lines.unless_default("unmatched", service.unmatched, standard.unmatched, in_words);
  lines.unless_default("ping", service.ping, standard.ping, in_words);
}

}  // namespace

std::string print_site(const Site& site) {
  Lines lines;
  if (site.hash_seed) lines.add("hash_seed", print_seed(*site.hash_seed));
  for (const Pool& pool : site.pools) print(lines, pool);
  for (const Service& service : site.services) print(lines, service);
  return lines.take();
}

}  // namespace guideway
