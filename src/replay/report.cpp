#include "replay/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace guideway {
namespace {

using nlohmann::json;

json verdicts_json(const VerdictCounters& counters) {
  json out = json::object();
  for (std::size_t i = 0; i < verdict_count; ++i) {
    const std::uint64_t packets = counters.packets[i].get();
    const auto verdict = static_cast<Verdict>(i);
    // Drops that did not happen are left out; the other verdicts always stand there.
    if (packets == 0 && is_drop(verdict)) continue;
    out[is_drop(verdict) ? "drop" : "pass"][std::string(name(verdict))] = {
        {"packets", packets}, {"bytes", counters.bytes[i].get()}};
  }
  if (!out.contains("drop")) out["drop"] = json::object();
  return out;
}

json services_json(const ReplayDirector& director) {
  json out = json::array();
  for (const auto& [id, service] : director.service_names()) {
    const ServiceCounters& counters = director.counters().service(id);
    out.push_back({{"service", service},
                   {"packets", counters.packets.get()},
                   {"bytes", counters.bytes.get()},
                   {"new_flows", counters.new_flows.get()},
                   {"unmatched", counters.unmatched.get()}});
  }
  return out;
}

json backends_json(const ReplayDirector& director) {
  json out = json::array();
  for (const auto& [id, backend] : director.backend_names()) {
    const BackendCounters& counters = director.counters().backend(id);
    out.push_back({{"pool", backend.pool},
                   {"backend", backend.backend},
                   {"packets", counters.packets.get()},
                   {"bytes", counters.bytes.get()},
                   {"new_flows", counters.new_flows.get()},
                   {"tracked_packets", counters.tracked_packets.get()}});
  }
  return out;
}

json epochs_json(const ReplayResult& result) {
  json out = json::array();
  for (const EpochMark& mark : result.epochs) {
    json entry = {{"packet", mark.packet}, {"epoch", static_cast<std::uint64_t>(mark.epoch)}};
    if (!mark.command.empty()) entry["command"] = mark.command;
    out.push_back(std::move(entry));
  }
  return out;
}

std::string endpoint(const IpAddress& address, std::uint16_t port) {
  const std::string text = address.text();
  return address.family == Family::ipv4 ? fmt::format("{}:{}", text, port)
                                        : fmt::format("[{}]:{}", text, port);
}

json backend_json(const ReplayDirector& director, BackendId id) {
  const auto found = director.backend_names().find(id);
  if (found == director.backend_names().end()) return nullptr;
  return found->second.pool + "/" + found->second.backend;
}

json audit_json(const AuditReport& audit, const ReplayDirector& director) {
  json broken = json::array();
  for (const BrokenFlow& flow : audit.first_broken) {
    broken.push_back({{"source", endpoint(flow.tuple.source, flow.tuple.source_port)},
                      {"destination", endpoint(flow.tuple.destination, flow.tuple.destination_port)},
                      {"packet", flow.packet},
                      {"knew", backend_json(director, flow.knew)},
                      {"reached", backend_json(director, flow.reached)}});
  }
  return {{"flows", audit.flows},
          {"began_before", audit.began_before},
          {"broken", audit.broken},
          {"lost_with_backend", audit.lost_with_backend},
          {"packets_passed_on", audit.packets_passed_on},
          {"packets_swallowed", audit.packets_swallowed},
          {"first_broken", std::move(broken)}};
}

double seconds(CaptureTime time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

json report_json(const ReplayResult& result, const ReplayDirector& director, const AuditReport& audit,
                 const std::string& link_type) {
  const VerdictCounters& counters = director.counters().verdicts;
  json not_reached = json::array();
  for (const AtCommand& command : result.not_reached)
    not_reached.push_back({{"packet", command.packet}, {"command", command.line}});
  return {{"capture",
           {{"link_type", link_type},
            {"packets", result.packets},
            {"first", seconds(result.first)},
            {"seconds", seconds(result.last - result.first)}}},
          {"packets_in", counters.packets_in.get()},
          {"bytes_in", counters.bytes_in.get()},
          {"verdicts", verdicts_json(counters)},
          {"services", services_json(director)},
          {"backends", backends_json(director)},
          {"flows",
           {{"tcp", result.flows_tcp},
            {"udp", result.flows_udp},
            {"created", counters.flows_created.get()},
            {"evicted", counters.flows_evicted.get()}}},
          {"epochs", epochs_json(result)},
          {"not_reached", std::move(not_reached)},
          {"connections", audit_json(audit, director)}};
}

std::string report_text(const json& report) {
  std::string out =
      fmt::format("{} packets in {:.3f} s of capture\n", report["packets_in"].get<std::uint64_t>(),
                  report["capture"]["seconds"].get<double>());
  for (const auto& [verdict, count] : report["verdicts"]["pass"].items())
    if (count["packets"] != 0)
      out += fmt::format("  {:<28}{:>10}\n", verdict, count["packets"].get<std::uint64_t>());
  for (const auto& [reason, count] : report["verdicts"]["drop"].items())
    out += fmt::format("  {:<28}{:>10}\n", "dropped: " + reason, count["packets"].get<std::uint64_t>());
  for (const auto& backend : report["backends"])
    out += fmt::format("  {:<28}{:>10} packets, {} new flows\n",
                       backend["pool"].get<std::string>() + "/" + backend["backend"].get<std::string>(),
                       backend["packets"].get<std::uint64_t>(), backend["new_flows"].get<std::uint64_t>());
  const json& connections = report["connections"];
  const auto number = [&](const char* key) { return connections[key].get<std::uint64_t>(); };
  out += fmt::format("{} connections, {} broken; {} packets found their backend by a second chance\n",
                     number("flows"), number("broken"), number("packets_passed_on"));
  if (number("packets_swallowed") != 0)
    out += fmt::format("{} connections were lost with a backend that was down; {} packets were sent to one\n",
                       number("lost_with_backend"), number("packets_swallowed"));
  return out;
}

}  // namespace guideway
