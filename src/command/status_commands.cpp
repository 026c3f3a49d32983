#include "command/status_commands.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command/pool_alarm.h"
#include "command/site_view.h"
#include "command/text_table.h"
#include "command/values.h"
#include "state/duration.h"
#include "state/words.h"

namespace guideway {

using nlohmann::json;

namespace {

constexpr std::string_view next_hop_words[] = {"unresolved", "resolved", "port_down"};

std::string mac_text(const MacAddress& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3], mac[4],
                     mac[5]);
}

json port_json(const PortReport& port) {
  json out{{"name", port.name},
           {"device", port.device},
           {"driver", port.driver},
           {"kernel_interface", port.kernel_interface},
           {"mac", mac_text(port.mac)},
           {"link", port.link_up ? "up" : "down"},
           {"mtu", port.mtu},
           {"queues", port.queues},
           {"socket", port.socket},
           {"rx_packets", port.rx_packets},
           {"tx_packets", port.tx_packets},
           {"rx_missed", port.rx_missed},
           {"rx_errors", port.rx_errors},
           {"tx_errors", port.tx_errors}};
  if (port.steered)
    out["steered"] = {{"to_socket", port.steered->to_socket},
                      {"to_kernel", port.steered->to_kernel},
                      {"no_socket", port.steered->no_socket},
                      {"services_left_out", port.steered->services_left_out}};
  return out;
}

json next_hop_json(const NextHopReport& report) {
  return {{"address", report.address},
          {"state", next_hop_words[static_cast<std::size_t>(report.next_hop.state) % 3]},
          {"port", report.next_hop.port},
          {"mac", mac_text(report.next_hop.mac)},
          {"via", report.via}};
}

json backend_counts(Context& context) {
  std::uint64_t total = 0, active = 0, draining = 0, disabled = 0, down = 0;
  const HealthView& health = context.health();
  for (const Pool& pool : context.version().site.pools) {
    for (const Backend& backend : pool.backends) {
      ++total;
      active += backend.state == BackendState::active ? 1 : 0;
      draining += backend.state == BackendState::draining ? 1 : 0;
      disabled += backend.state == BackendState::disabled ? 1 : 0;
      down += health_of(health, pool.name, backend.name) == Health::down ? 1 : 0;
    }
  }
  return {
      {"total", total}, {"active", active}, {"draining", draining}, {"disabled", disabled}, {"down", down}};
}

// Backends that may have flows in no table, and the one of them that takes longest to be known.
json unseen_summary(Context& context) {
  std::uint64_t backends = 0;
  std::optional<UnseenFlows> longest;
  for (const Pool& pool : context.version().site.pools) {
    if (!pool.flow_table) continue;
    for (const Backend& backend : pool.backends) {
      const auto unseen = context.live()->unseen_flows(pool.name, backend.name);
      if (!unseen) continue;
      ++backends;
      if (!longest || longest->known_in < unseen->known_in) longest = unseen;
    }
  }
  return {{"backends", backends}, {"longest", unseen_json(longest)}};
}

// `each` tells what it comes to: the promise is 16 bytes a flow, 8 a row.
json memory_share(const char* of, std::size_t count, std::size_t bytes) {
  const double each = count == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(count);
  return {{of, count}, {"bytes", bytes}, {"bytes_each", each}};
}

json verdicts_json(const StatsReport& stats, bool drops) {
  json out = json::object();
  for (std::size_t i = 0; i < verdict_count; ++i) {
    if (is_drop(static_cast<Verdict>(i)) != drops) continue;
    out[std::string(verdict_names[i])] = {{"packets", stats.packets[i]}, {"bytes", stats.bytes[i]}};
  }
  return out;
}

json services_json(const StatsReport& stats) {
  json out = json::array();
  for (const ServiceStats& service : stats.services) {
    out.push_back({{"name", service.service},
                   {"packets", service.packets},
                   {"bytes", service.bytes},
                   {"new_flows", service.new_flows},
                   {"unmatched", service.unmatched}});
  }
  return out;
}

json backend_stats_json(const StatsReport& stats) {
  json out = json::array();
  for (const BackendStats& backend : stats.backends) {
    json entry{{"pool", backend.pool},
               {"name", backend.backend},
               {"packets", backend.packets},
               {"bytes", backend.bytes},
               {"new_flows", backend.new_flows}};
    if (backend.flows_left) {
      entry["live_flows"] = backend.flows_left->open;
      entry["closing_flows"] = backend.flows_left->closing;
      entry["unseen_flows"] = unseen_json(backend.flows_left->unseen);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

json workers_json(const StatsReport& stats) {
  json out = json::array();
  for (const WorkerStats& worker : stats.workers) {
    out.push_back({{"lcore", worker.lcore},
                   {"packets_in", worker.packets_in},
                   {"bytes_in", worker.bytes_in},
                   {"bursts", worker.bursts},
                   {"polls_idle", worker.polls_idle},
                   {"flows_created", worker.flows_created},
                   {"flows_evicted", worker.flows_evicted},
                   {"flows_refused", worker.flows_refused},
                   {"strangers", worker.strangers},
                   {"host_frames", worker.host_frames},
                   {"host_frames_lost", worker.host_frames_lost},
                   {"flow_entries", worker.flow_entries},
                   {"flow_room", worker.flow_room}});
  }
  return out;
}

std::string text_of(const json& object, const char* key) { return object.at(key).get<std::string>(); }
std::uint64_t number_of(const json& object, const char* key) { return object.at(key).get<std::uint64_t>(); }

std::string bytes_text(std::uint64_t bytes) {
  return bytes < 1U << 20 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", grouped(bytes >> 20));
}

std::string memory_text(const json& share, const char* of, const std::string& name) {
  return fmt::format("{} for {} ({:g} bytes each)", bytes_text(number_of(share, "bytes")),
                     counted(number_of(share, of), name), share.at("bytes_each").get<double>());
}

std::string ports_table(const json& ports, bool color) {
  TextTable table({"PORT", "DEVICE", "DRIVER", "MAC", "LINK", "MTU", "QUEUES", "RX PACKETS", "TX PACKETS",
                   "RX MISSED", "ERRORS"});
  for (const json& port : ports) {
    const std::string link = text_of(port, "link");
    table.add({text_of(port, "name"), text_of(port, "device"), text_of(port, "driver"), text_of(port, "mac"),
               Cell(link, link == "up" ? Tone::good : Tone::bad), number_of(port, "mtu"),
               number_of(port, "queues"), number_of(port, "rx_packets"), number_of(port, "tx_packets"),
               number_of(port, "rx_missed"), number_of(port, "rx_errors") + number_of(port, "tx_errors")});
  }
  return table.empty() ? "no ports\n" : table.text(color);
}

std::string next_hops_table(const json& next_hops, bool color) {
  TextTable table({"NEXT HOP", "STATE", "MAC", "VIA"});
  for (const json& next_hop : next_hops) {
    const std::string state = text_of(next_hop, "state");
    table.add({text_of(next_hop, "address"), Cell(state, state == "resolved" ? Tone::good : Tone::warn),
               text_of(next_hop, "mac"), text_of(next_hop, "via")});
  }
  return table.empty() ? "no next hops\n" : table.text(color);
}

std::string verdicts_table(const json& answer, bool color) {
  TextTable table({"VERDICT", "PACKETS", "BYTES"});
  for (const auto& [name, counts] : answer.at("verdicts").items()) {
    table.add({name, number_of(counts, "packets"), number_of(counts, "bytes")});
  }
  for (const auto& [name, counts] : answer.at("drops").items()) {
    if (number_of(counts, "packets") == 0) continue;
    table.add(
        {Cell("dropped: " + name, Tone::warn), number_of(counts, "packets"), number_of(counts, "bytes")});
  }
  return table.text(color);
}

}  // namespace

Result<json> show_status(Context& context, const Arguments&) {
  const SiteVersion& version = context.version();
  Live& live = *context.live();
  const MemoryReport memory = live.memory();
  json ports = json::array(), next_hops = json::array();
  for (const PortReport& port : live.ports()) ports.push_back(port_json(port));
  for (const NextHopReport& next_hop : live.next_hops()) next_hops.push_back(next_hop_json(next_hop));
  return json{{"version", GUIDEWAY_VERSION},
              {"epoch", static_cast<std::uint64_t>(version.epoch)},
              {"site_digest", hex64(site_digest(version, context.recent_rows()))},
              {"uptime_seconds", live.uptime().count()},
              {"memory_bytes", memory.resident_bytes},
              {"flow_tables", memory_share("flows", memory.flows, memory.flow_bytes)},
              {"tables", memory_share("rows", memory.rows, memory.row_bytes)},
              {"services", version.site.services.size()},
              {"pools", version.site.pools.size()},
              {"backends", backend_counts(context)},
              {"unseen_flows", unseen_summary(context)},
              {"alarms", alarms_json(context)},
              {"metrics", context.director().metrics},
              {"ports", std::move(ports)},
              {"next_hops", std::move(next_hops)}};
}

Result<json> show_stats(Context& context, const Arguments&) {
  const StatsReport stats = context.live()->stats();
  return json{{"packets_in", stats.packets_in},          {"bytes_in", stats.bytes_in},
              {"verdicts", verdicts_json(stats, false)}, {"drops", verdicts_json(stats, true)},
              {"services", services_json(stats)},        {"backends", backend_stats_json(stats)},
              {"workers", workers_json(stats)}};
}

std::string render_status(const json& answer, bool color) {
  const json& backends = answer.at("backends");
  TextList list;
  list.add("guidewayd",
           fmt::format("{}, up {}", text_of(answer, "version"),
                       rough_duration(std::chrono::seconds(number_of(answer, "uptime_seconds")))));
  list.add("site",
           fmt::format("epoch {}, digest {}", number_of(answer, "epoch"), text_of(answer, "site_digest")));
  list.add("serves", fmt::format("{}, {}, {} ({} active, {} draining, {} disabled; {} down)",
                                 counted(number_of(answer, "services"), "service"),
                                 counted(number_of(answer, "pools"), "pool"),
                                 counted(number_of(backends, "total"), "backend"),
                                 number_of(backends, "active"), number_of(backends, "draining"),
                                 number_of(backends, "disabled"), number_of(backends, "down")));
  if (const json& unseen = answer.at("unseen_flows"); number_of(unseen, "backends") != 0)
    list.add("flows", fmt::format("{} may have some in no flow table: {}",
                                  counted(number_of(unseen, "backends"), "backend"),
                                  text_of(unseen.at("longest"), "sentence")));
  list.add("memory", fmt::format("{} in use, in it tables {}; flow tables take up to {}, as flows come",
                                 bytes_text(number_of(answer, "memory_bytes")),
                                 memory_text(answer.at("tables"), "rows", "row"),
                                 memory_text(answer.at("flow_tables"), "flows", "flow")));
  const std::string metrics = text_of(answer, "metrics");
  list.add("metrics", metrics.empty() ? "off" : "http://" + metrics + "/metrics");
  return list.text(color) + alarm_lines(answer, color) + "\n" + ports_table(answer.at("ports"), color) +
         "\n" + next_hops_table(answer.at("next_hops"), color);
}

std::string render_stats(const json& answer, bool color) {
  std::string out = fmt::format("{} packets in, {} bytes\n\n", grouped(number_of(answer, "packets_in")),
                                grouped(number_of(answer, "bytes_in")));
  out += verdicts_table(answer, color) + "\n";
  TextTable services({"SERVICE", "PACKETS", "BYTES", "NEW FLOWS", "NO SUCH PORT"});
  for (const json& service : answer.at("services")) {
    services.add({text_of(service, "name"), number_of(service, "packets"), number_of(service, "bytes"),
                  number_of(service, "new_flows"), number_of(service, "unmatched")});
  }
  out += (services.empty() ? "no services\n" : services.text(color)) + "\n";
  TextTable backends({"POOL", "BACKEND", "PACKETS", "BYTES", "NEW FLOWS"});
  for (const json& backend : answer.at("backends")) {
    backends.add({text_of(backend, "pool"), text_of(backend, "name"), number_of(backend, "packets"),
                  number_of(backend, "bytes"), number_of(backend, "new_flows")});
  }
  out += (backends.empty() ? "no backends\n" : backends.text(color)) + "\n";
  TextTable workers({"LCORE", "PACKETS IN", "BURSTS", "IDLE POLLS", "HOST'S FRAMES", "OF THEM LOST"});
  TextTable flows({"LCORE", "FLOWS", "ROOM FOR", "CREATED", "EVICTED", "REFUSED", "STRANGERS"});
  for (const json& worker : answer.at("workers")) {
    workers.add({number_of(worker, "lcore"), number_of(worker, "packets_in"), number_of(worker, "bursts"),
                 number_of(worker, "polls_idle"),
                 number_of(worker, "host_frames") + number_of(worker, "host_frames_lost"),
                 number_of(worker, "host_frames_lost")});
    flows.add({number_of(worker, "lcore"), number_of(worker, "flow_entries"), number_of(worker, "flow_room"),
               number_of(worker, "flows_created"), number_of(worker, "flows_evicted"),
               number_of(worker, "flows_refused"), number_of(worker, "strangers")});
  }
  return out + (workers.empty() ? "no workers\n" : workers.text(color) + "\n" + flows.text(color));
}

}  // namespace guideway
