#include "state/site_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "state/prefix.h"
#include "state/range.h"
#include "state/site_check.h"
#include "state/toml_reader.h"

namespace guideway {
namespace {

// Where the objects of the site stand in the document, by the same indices.
struct SiteTables {
  std::vector<const toml::table*> pools, services;
  std::vector<std::vector<const toml::table*>> backends;  // by pool
};

void read_seed(TomlSection& section, std::string_view key, std::optional<std::uint64_t>& out) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return;
  const std::string_view wanted =
      "an integer from 0 to 9223372036854775807 or \"0x\" and up to 16 hex digits";
  if (const auto* integer = node->as_integer()) {
    if (integer->get() >= 0)
      out = static_cast<std::uint64_t>(integer->get());
    else
      section.document().complain(node->source(), fmt::format("{} {} is below 0", key, integer->get()),
                                  fmt::format("write {}", wanted));
    return;
  }
  const auto* text = node->as_string();
  if (text == nullptr) return section.wrong_type(*node, key, wanted);
  const std::string& digits = text->get();
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const bool prefixed = digits.size() > 2 && digits.size() <= 18 && digits.starts_with("0x");
  if (prefixed) {
    const auto [stop, error] = std::from_chars(digits.data() + 2, end, value, 16);
    if (error == std::errc{} && stop == end) {
      out = value;
      return;
    }
  }
  section.document().complain(node->source(), fmt::format("{} is no 64-bit hex string", key),
                              fmt::format("write {}", wanted));
}

void read_timeouts(TomlSection& pool, FlowTimeouts& out) {
  const toml::table* table = pool.subtable("timeouts");
  if (table == nullptr) return;
  TomlSection section(pool.document(), *table, "timeouts");
  const auto read = [&](std::string_view key, std::uint32_t& milliseconds) {
    std::chrono::milliseconds span(milliseconds);
    section.duration(key, span);
    // The check refuses what was cut here.
    milliseconds = static_cast<std::uint32_t>(std::min<std::int64_t>(span.count(), UINT32_MAX));
  };
  read("new", out.fresh_ms);
  read("established", out.established_ms);
  read("closing", out.closing_ms);
  read("udp", out.udp_ms);
  section.refuse_unknown_keys();
}

void read_health(TomlSection& pool, HealthCheck& out) {
  const toml::table* table = pool.subtable("health");
  if (table == nullptr) return;
  TomlSection section(pool.document(), *table, "health");
  section.word("type", out.type);
  section.integer("port", out.port, 1, 65535);
  section.text("path", out.path, 1024);
  section.text("host", out.host, 253);
  section.duration("interval", out.interval);
  section.duration("timeout", out.timeout);
  section.integer("rise", out.rise, 1, 255);
  section.integer("fall", out.fall, 1, 255);
  section.flag("through_tunnel", out.through_tunnel);
  section.word("initial", out.initial);
  section.refuse_unknown_keys();
}

void read_weight(TomlSection& section, std::uint32_t& out) {
  const toml::node* node = section.find("weight");
  if (node == nullptr) return;
  const auto* value = node->as_integer();
  if (value == nullptr)
    return section.wrong_type(*node, "weight", fmt::format("an integer from 1 to {}", weight_max));
  if (auto error = bad_weight(value->get()))
    section.document().complain(node->source(), error->what, error->next);
  else
    out = static_cast<std::uint32_t>(value->get());
}

Backend read_backend(TomlDocument& document, const toml::table& table) {
  TomlSection section(document, table, "backend");
  Backend backend;
  if (section.require("name") != nullptr) section.text("name", backend.name, TomlDocument::size_max);
  if (auto address = section.address("address", true)) backend.address = *address;
  read_weight(section, backend.weight);
  section.word("state", backend.state);
  section.refuse_unknown_keys();
  return backend;
}

Pool read_pool(TomlDocument& document, const toml::table& table, std::vector<const toml::table*>& backends) {
  TomlSection section(document, table, "pool");
  Pool pool;
  if (section.require("name") != nullptr) section.text("name", pool.name, TomlDocument::size_max);
  section.word("encapsulation", pool.encapsulation);
  section.integer("rows", pool.rows, rows_min, rows_max);
  section.word("affinity", pool.affinity);
  section.integer("hops", pool.hop_rules.hops, 1, 3);
  section.number("panic", pool.hop_rules.panic);
  section.word("none_healthy", pool.hop_rules.none_healthy);
  section.word("deal", pool.deal);
  read_seed(section, "seed", pool.seed);
  bool copy = pool.copy_tos;
  if (const toml::node* node = section.find("tos")) {
    if (auto text = section.text_of(*node, "tos")) {
      copy = *text == "copy";
      if (!copy && *text != "zero") section.bad_word(*node, "tos", *text, "copy or zero");
    }
  }
  pool.copy_tos = copy;
  section.flag("flow_table", pool.flow_table);
  section.integer("gue_port", pool.gue_port, 1, 65535);
  section.flag("udp_checksum", pool.udp_checksum);
  section.word("too_big", pool.too_big);
  section.word("on_down", pool.on_down);
  read_timeouts(section, pool.timeouts);
  read_health(section, pool.health);
  backends = section.tables("backend");
  for (const toml::table* backend : backends) pool.backends.push_back(read_backend(document, *backend));
  section.refuse_unknown_keys();
  return pool;
}

void read_service_address(TomlSection& section, Service& out) {
  const toml::node* node = section.require("address");
  if (node == nullptr) return;
  const auto text = section.text_of(*node, "address");
  if (!text) return;
  const std::size_t slash = text->find('/');
  const auto address = IpAddress::parse(text->substr(0, slash));
  const auto complain = [&](std::string_view what) {
    section.document().complain(node->source(), std::string(what),
                                "write it like \"203.0.113.10\", \"203.0.113.0/28\" or \"2001:db8::10\"");
  };
  if (!address) return complain("address is no IPv4 or IPv6 address or prefix");
  out.address = *address;
  out.prefix_length = prefix_length_max(address->family);
  if (slash == std::string_view::npos) return;
  const auto length = parse_prefix_length(text->substr(slash + 1), address->family);
  if (!length) return complain("the prefix length is no number from 0 to the address's bits");
  out.prefix_length = *length;
}

std::optional<PortRange> parse_ports(std::string_view text) {
  const auto port = [](std::string_view digits) -> std::optional<std::uint16_t> {
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const std::size_t dash = text.find('-');
  const auto first = port(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : port(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return PortRange{*first, *last};
}

void read_ports(TomlSection& section, std::vector<PortRange>& out) {
  const toml::node* node = section.require("ports");
  if (node == nullptr) return;
  if (const auto* text = node->as_string(); text != nullptr && text->get() == "any") return;
  const toml::array* array = node->as_array();
  if (array == nullptr) return section.wrong_type(*node, "ports", "[80, 443, \"8000-8099\"] or \"any\"");
  if (array->empty())
    return section.document().complain(node->source(), "ports is empty", "name the ports, or write \"any\"");
  for (const toml::node& element : *array) {
    if (element.as_integer() != nullptr) {
      if (auto port = section.integer_of(element, "port", 1, 65535))
        out.push_back({static_cast<std::uint16_t>(*port), static_cast<std::uint16_t>(*port)});
    } else if (const auto* text = element.as_string()) {
      if (auto range = parse_ports(text->get()))
        out.push_back(*range);
      else
        section.document().complain(element.source(), "this is no port or range of ports",
                                    "write 80 or \"8000-8099\", within 1 to 65535");
    } else {
      section.wrong_type(element, "port", "a number or a range: \"8000-8099\"");
    }
  }
  std::sort(out.begin(), out.end());
}

Service read_service(TomlDocument& document, const toml::table& table) {
  TomlSection section(document, table, "service");
  Service service;
  if (section.require("name") != nullptr) section.text("name", service.name, TomlDocument::size_max);
  read_service_address(section, service);
  if (const toml::node* node = section.require("protocol")) {
    if (auto text = section.text_of(*node, "protocol")) {
      service.protocol = *text == "udp" ? protocol_udp : protocol_tcp;
      if (*text != "udp" && *text != "tcp") section.bad_word(*node, "protocol", *text, "tcp or udp");
    }
  }
  read_ports(section, service.ports);
  if (section.require("pool") != nullptr) section.text("pool", service.pool, TomlDocument::size_max);
  section.word("unmatched", service.unmatched);
  section.word("ping", service.ping);
  section.refuse_unknown_keys();
  return service;
}

Site read(TomlDocument& document, SiteTables& tables) {
  TomlSection root(document, document.root(), "the site");
  Site site;
  read_seed(root, "hash_seed", site.hash_seed);
  tables.pools = root.tables("pool");
  tables.backends.resize(tables.pools.size());
  for (std::size_t i = 0; i < tables.pools.size(); ++i)
    site.pools.push_back(read_pool(document, *tables.pools[i], tables.backends[i]));
  tables.services = root.tables("service");
  for (const toml::table* table : tables.services) site.services.push_back(read_service(document, *table));
  root.refuse_unknown_keys();
  return site;
}

// The value that a fault is about, else the table that it should stand in.
const toml::source_region& region_of(const TomlDocument& document, const SiteTables& tables,
                                     const SitePlace& place) {
  const toml::table* table = &document.root();
  if (place.pool) table = tables.pools[*place.pool];
  if (place.backend) table = tables.backends[*place.pool][*place.backend];
  if (place.service) table = tables.services[*place.service];
  if (!place.section.empty())
    if (const toml::table* section = table->get_as<toml::table>(place.section)) table = section;
  const toml::node* value = place.field.empty() ? nullptr : table->get(place.field);
  return value == nullptr ? table->source() : value->source();
}

}  // namespace

Result<ParsedSite> parse_site(std::string_view toml, std::string_view name) {
  auto document = TomlDocument::parse(toml, name);
  if (!document) return tl::unexpected(document.error());
  SiteTables tables;
  Site site = read(*document, tables);
  if (document->mistake()) return tl::unexpected(*document->mistake());
  if (auto fault = first_fault(site)) {
    fault->error.where = document->place(region_of(*document, tables, fault->place));
    return tl::unexpected(std::move(fault->error));
  }
  ParsedSite parsed{std::move(site), {}};
  for (const std::string& warning : warnings_of(parsed.site))
    parsed.warnings.push_back(fmt::format("{}: {}", name, warning));
  return parsed;
}

Result<Site> parse_site_part(std::string_view toml, std::string_view name) {
  auto document = TomlDocument::parse(toml, name);
  if (!document) return tl::unexpected(document.error());
  SiteTables tables;
  Site site = read(*document, tables);
  if (document->mistake()) return tl::unexpected(*document->mistake());
  return site;
}

Result<ParsedSite> read_site(const std::string& path) {
  auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  return parse_site(*text, path);
}

}  // namespace guideway
