#include "state/director_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "state/device_name.h"
#include "state/interface_name.h"
#include "state/prefix.h"
#include "state/toml_reader.h"
#include "toml/near_match.h"

namespace guideway {
namespace {

constexpr std::size_t path_size_max = 4096;
constexpr std::size_t socket_path_size_max = 107;  // sun_path with its end
constexpr unsigned lcore_max = 1023;
constexpr std::size_t workers_max = 128;
constexpr std::size_t ports_max = 32;
constexpr std::uint32_t descriptors_min = 64, descriptors_max = 32768;

void read_source(TomlSection& section, std::string_view key, Family family, std::optional<IpAddress>& out) {
  out = section.address(key, false);
  if (!out) return;
  if (out->family != family)
    section.complain(key, fmt::format("{} {} is of the other family", key, out->text()),
                     family == Family::ipv4 ? "write it like \"10.0.0.2\"" : "write it like \"fd00::2\"");
  else if (!is_unicast(*out))
    section.complain(key, fmt::format("{} {} is no host's address", key, out->text()),
                     "give this host's own address");
}

void read_source_prefix(TomlSection& section, std::optional<Prefix>& out) {
  const std::string_view key = "outer_source_prefix";
  const toml::node* node = section.find(key);
  if (node == nullptr) return;
  const auto text = section.text_of(*node, key);
  if (!text) return;
  const std::size_t slash = text->find('/');
  const auto address = IpAddress::parse(text->substr(0, slash));
  if (address && address->family == Family::ipv4 && is_unicast(*address) && slash != std::string_view::npos) {
    const auto length = parse_prefix_length(text->substr(slash + 1), Family::ipv4);
    if (length && *length >= 8 && *length <= 31 && network_of(*address, *length) == *address) {
      out = Prefix{*address, *length};
      return;
    }
  }
  section.document().complain(node->source(),
                              fmt::format("{} {} is no IPv4 prefix of 8 to 31 bits", key, *text),
                              "write it like \"10.100.0.0/20\", with no bits behind the prefix");
}

void read_workers(TomlSection& section, std::vector<unsigned>& out) {
  const toml::node* node = section.find("workers");
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) return section.wrong_type(*node, "workers", "a list of lcores: [1, 2]");
  if (array->empty()) return section.complain("workers", "workers is empty", "name at least one lcore: [1]");
  if (array->size() > workers_max)
    return section.complain("workers", fmt::format("{} workers are too many", array->size()),
                            fmt::format("use at most {}", workers_max));
  out.clear();
  for (const toml::node& element : *array) {
    const auto lcore = section.integer_of(element, "lcore", 0, lcore_max);
    if (!lcore) return;
    if (std::find(out.begin(), out.end(), static_cast<unsigned>(*lcore)) != out.end())
      return section.document().complain(element.source(), fmt::format("lcore {} is named twice", *lcore),
                                         "give each worker an lcore of its own");
    out.push_back(static_cast<unsigned>(*lcore));
  }
}

void read_path(TomlSection& section, std::string_view key, std::string& out, std::size_t size_max) {
  section.text(key, out, size_max);
  if (section.table().get(key) == nullptr) return;
  if (out.empty() || out.front() != '/' || out.find('\0') != std::string::npos)
    section.complain(key, fmt::format("{} is no absolute path", key), "begin it with '/'");
}

// The address of "ADDRESS:PORT" or "[V6]:PORT".
std::optional<IpAddress> endpoint_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) return std::nullopt;
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  return address && (address->family == Family::ipv6) == bracketed ? address : std::nullopt;
}

void read_metrics(TomlSection& section, std::string& out) {
  section.text("metrics", out, 64);
  if (out.empty()) return;
  const auto address = endpoint_address(out);
  if (!address)
    section.complain("metrics", "metrics is no address and port",
                     "write it like \"127.0.0.1:9464\" or \"[::1]:9464\", or \"\" to turn it off");
  else if (!is_loopback(*address))
    section.complain("metrics", fmt::format("metrics {} is not on loopback", out),
                     "use 127.0.0.1 or [::1], and a reverse proxy for other hosts");
}

void read_director(TomlSection& section, DirectorConfig& out) {
  read_source(section, "source_ipv4", Family::ipv4, out.source_ipv4);
  read_source(section, "source_ipv6", Family::ipv6, out.source_ipv6);
  read_source_prefix(section, out.outer_source_prefix);
  read_workers(section, out.workers);
  section.word("polling", out.polling);
  read_path(section, "admin_socket", out.admin_socket, socket_path_size_max);
  read_path(section, "state_dir", out.state_dir, path_size_max);
  read_metrics(section, out.metrics);
  section.flag("capture", out.capture);
  section.flag("hugepages", out.hugepages);
  section.integer("memory_mb", out.memory_mb, 64, 1 << 20);
  section.integer("flow_table_entries", out.flow_table_entries, 1024, 1 << 28);
  section.refuse_unknown_keys();
}

std::optional<MacAddress> parse_mac(std::string_view text) {
  MacAddress out{};
  if (text.size() != 17) return std::nullopt;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char* digits = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, out[i], 16);
    if (error != std::errc{} || end != digits + 2 || (i < 5 && *end != ':')) return std::nullopt;
  }
  return out;
}

void read_mac(TomlSection& section, std::optional<MacAddress>& out) {
  const toml::node* node = section.find("next_hop_mac");
  if (node == nullptr) return;
  const auto text = section.text_of(*node, "next_hop_mac");
  if (!text) return;
  out = parse_mac(*text);
  if (!out || (out->front() & 1U) != 0 || *out == MacAddress{})
    section.document().complain(node->source(), "next_hop_mac is no unicast MAC address",
                                "write it like \"02:00:00:00:00:01\"");
}

PortConfig read_port(TomlDocument& document, const toml::table& table, std::size_t workers) {
  TomlSection section(document, table, "port");
  PortConfig port;
  if (section.require("name") != nullptr) section.text("name", port.name, name_size_max);
  if (table.contains("name") && !is_name(port.name))
    section.complain("name", "this is no port's name", "use 1 to 63 letters, digits, '.', '_' and '-'");
  if (section.require("device") != nullptr) section.text("device", port.device, path_size_max);
  if (table.contains("device"))
    if (auto device = parse_device(port.device); !device)
      section.complain("device", device.error().what, device.error().next);
  section.text("kernel_interface", port.kernel_interface, interface_size_max);
  if (!port.kernel_interface.empty() && !is_interface_name(port.kernel_interface))
    section.complain("kernel_interface", "kernel_interface is no interface name",
                     "use up to 15 letters, digits, '.', '_' and '-'");
  section.flag("twin", port.twin);
  section.integer("mtu", port.mtu, 576, 9216);
  section.integer("vlan", port.vlan, 0, 4094);
  section.integer("queues", port.queues, 0, static_cast<std::int64_t>(workers_max));
  if (port.queues != 0 && port.queues != workers)
    section.complain(
        "queues",
        fmt::format("{} queues do not fit {} worker{}", port.queues, workers, workers == 1 ? "" : "s"),
        fmt::format("write queues = {} or leave it out: each worker has its own", workers));
  section.integer("rx_descriptors", port.rx_descriptors, descriptors_min, descriptors_max);
  section.integer("tx_descriptors", port.tx_descriptors, descriptors_min, descriptors_max);
  section.flag("promiscuous", port.promiscuous);
  section.flag("answer_arp", port.answer_arp);
  read_mac(section, port.next_hop_mac);
  section.refuse_unknown_keys();
  return port;
}

// Names, devices and kernel interfaces belong to one port each.
void refuse_duplicates(TomlDocument& document, const std::vector<const toml::table*>& tables,
                       const std::vector<PortConfig>& ports) {
  std::set<std::string> names, devices, interfaces;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    TomlSection section(document, *tables[i], "port");
    if (!names.insert(ports[i].name).second)
      section.complain("name", fmt::format("two ports are called \"{}\"", ports[i].name), "rename one");
    if (const auto device = parse_device(ports[i].device); device && device->kind != Device::Kind::null_)
      if (!devices.insert(device->identity()).second)
        section.complain("device",
                         fmt::format("device {} belongs to another port already", device->identity()),
                         "a device is one port; remove one of the two");
    if (!ports[i].kernel_interface.empty() && !interfaces.insert(ports[i].kernel_interface).second)
      section.complain(
          "kernel_interface",
          fmt::format("kernel interface {} belongs to another port already", ports[i].kernel_interface),
          "give each port one of its own");
  }
}

}  // namespace

Result<DirectorConfig> parse_director(std::string_view toml, std::string_view name) {
  auto document = TomlDocument::parse(toml, name);
  if (!document) return tl::unexpected(std::move(document.error()));
  TomlSection root(*document, document->root(), "the director's file");
  DirectorConfig out;
  if (const toml::table* table = root.subtable("director")) {
    TomlSection section(*document, *table, "[director]");
    read_director(section, out);
  }
  const auto ports = root.tables("port");
  for (const toml::table* table : ports)
    out.ports.push_back(read_port(*document, *table, out.workers.size()));
  if (out.ports.empty())
    document->complain(document->root().source(), "there is no port",
                       "add [[port]] with a name and a device");
  if (out.ports.size() > ports_max)
    document->complain(ports[ports_max]->source(), fmt::format("{} ports are too many", out.ports.size()),
                       fmt::format("use at most {}", ports_max));
  refuse_duplicates(*document, ports, out.ports);
  root.refuse_unknown_keys();
  if (document->mistake()) return tl::unexpected(*document->mistake());
  return out;
}

Result<DirectorConfig> read_director(const std::string& path) {
  auto text = read_text(path);
  if (!text) return tl::unexpected(std::move(text.error()));
  return parse_director(*text, path);
}

}  // namespace guideway
