#include "command/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/site_export.h"
#include "command/text_table.h"
#include "command/values.h"
#include "net/wrapping.h"
#include "state/director_fit.h"
#include "state/service_cover.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

namespace {

// A [director] or [[port]] heading at the start of a line makes it a director file.
bool is_director_file(const std::string& text) {
  for (std::size_t at = 0; at < text.size();
       at = text.find('\n', at) == std::string::npos ? text.size() : text.find('\n', at) + 1) {
    const std::string_view line = std::string_view(text).substr(at);
    if (line.starts_with("[director]") || line.starts_with("[[port]]")) return true;
  }
  return false;
}

// Nothing but an agent's file names its directors at the start of a line.
bool is_agent_file(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("[")) return false;
    if (line.starts_with("directors") && line.find('=') != line.npos) return true;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

Result<json> check_director(const Arguments& arguments) {
  const std::string& file = arguments.at("FILE");
  const auto director = parse_director(arguments.input, file);
  if (!director) return tl::unexpected<Error>(director.error());
  return json{{"file", file},
              {"kind", "director"},
              {"ports", director->ports.size()},
              {"workers", director->workers.size()},
              {"warnings", json::array()}};
}

// IPv6 services whose smallest full packets do not fit through a port behind the wrapping. Which port leads to the
// backends is Linux's to say, so each one is named.
std::vector<std::string> mtu_warnings(const Site& site, const DirectorConfig& director) {
  std::vector<std::string> out;
  for (const Service& service : site.services) {
    const Pool& pool = *site.find_pool(service.pool);
    if (service.address.family != Family::ipv6 || pool.backends.empty()) continue;
    const std::size_t wrapping =
        net::wrapping_size(pool.encapsulation, pool.backends.front().address.family, pool.rules().hops);
    for (const PortConfig& port : director.ports) {
      if (port.mtu >= net::ipv6_mtu_min + wrapping) continue;
      out.push_back(
          fmt::format("service \"{}\": port \"{}\" has an MTU of {}, which leaves {} bytes behind the "
                      "wrapping; IPv6 hosts do not go below {}, so if its backends are reached there set mtu "
                      "to {} or more",
                      service.name, port.name, port.mtu, port.mtu - wrapping, net::ipv6_mtu_min,
                      net::ipv6_mtu_min + wrapping));
    }
  }
  return out;
}

json overlaps_json(const Site& site) {
  json out = json::array();
  for (const ServiceOverlap& overlap : service_overlaps(site))
    out.push_back({{"service", overlap.winner},
                   {"over", overlap.loser},
                   {"address", prefix_text(overlap.address, overlap.prefix_length)},
                   {"protocol", protocol_word(overlap.protocol)},
                   {"ports", ports_text(overlap.ports)}});
  return out;
}

std::string overlap_line(const json& overlap) {
  const auto text = [&](const char* key) { return overlap.at(key).get<std::string>(); };
  return fmt::format("{} {} {}: \"{}\" wins over \"{}\"\n", text("protocol"), text("address"),
                     text("ports") == "any" ? "any port" : "port " + text("ports"), text("service"),
                     text("over"));
}

}  // namespace

Result<json> check_file(Context& context, const Arguments& arguments) {
  if (is_director_file(arguments.input)) return check_director(arguments);
  const std::string& file = arguments.at("FILE");
  if (is_agent_file(arguments.input))
    return fail(ErrorKind::invalid, "this is a file of guideway-agent, which `check` does not read", file,
                "guideway-agent reads it, on the backend; `check` takes a site's or a director's file");
  auto imported = parse_import(arguments.input, file);
  if (!imported) return tl::unexpected<Error>(imported.error());
  auto store = Store::open(std::nullopt, std::move(imported->parsed.site), std::move(imported->seatings));
  if (!store) return tl::unexpected<Error>(store.error());
  const SiteVersion& version = store->current();
  if (auto good = check_fit(version, context.director()); !good) return tl::unexpected<Error>(good.error());
  std::vector<std::string> warnings = imported->parsed.warnings;
  for (std::string& warning : mtu_warnings(version.site, context.director()))
    warnings.push_back(fmt::format("{}: {}", file, warning));
  std::uint64_t backends = 0;
  for (const Pool& pool : version.site.pools) backends += pool.backends.size();
  return json{{"file", file},
              {"kind", "site"},
              {"services", version.site.services.size()},
              {"pools", version.site.pools.size()},
              {"backends", backends},
              {"site_digest", hex64(site_digest(version, *store->recent_rows()))},
              {"overlaps", overlaps_json(version.site)},
              {"warnings", warnings}};
}

std::string render_check(const json& answer, bool color) {
  std::string out;
  for (const json& warning : answer.at("warnings")) {
    out += toned("warning: ", Tone::warn, color) + warning.get<std::string>() + "\n";
  }
  const auto number = [&](const char* key) { return answer.at(key).get<std::uint64_t>(); };
  const std::string file = answer.at("file").get<std::string>();
  if (answer.at("kind") == "director") {
    return out + fmt::format("{}: a good director file: {}, {}\n", file, counted(number("ports"), "port"),
                             counted(number("workers"), "worker"));
  }
  // Enough to see what is meant; --json has them all.
  constexpr std::size_t lines_max = 20;
  const json& overlaps = answer.at("overlaps");
  for (std::size_t i = 0; i < std::min(overlaps.size(), lines_max); ++i) out += overlap_line(overlaps[i]);
  if (overlaps.size() > lines_max)
    out += fmt::format("and {} more overlaps\n", grouped(overlaps.size() - lines_max));
  return out + fmt::format("{}: a good site: {}, {}, {}\n", file, counted(number("services"), "service"),
                           counted(number("pools"), "pool"), counted(number("backends"), "backend"));
}

}  // namespace guideway
