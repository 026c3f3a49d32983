#include "agent/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "agent/running.h"

namespace guideway::agent {
namespace {

template <class List>
std::vector<std::string> texts(const List& list) {
  std::vector<std::string> out;
  for (const auto& item : list) out.push_back(item.text());
  return out;
}

template <class List>
std::string line_of(const List& list) {
  return list.empty() ? "-" : fmt::format("{}", fmt::join(texts(list), " "));
}

nlohmann::json status_json(const Status& status) {
  nlohmann::json out = {
      {"interface", status.interface.name}, {"attached", status.attached}, {"mode", status.mode}};
  if (!status.attached) return out;
  out["udp_port"] = status.udp_port;
  out["program"] = status.kernel_types ? "kernel-typed" : "portable";
  out["local"] = texts(status.lists.local);
  out["directors"] = texts(status.lists.directors);
  out["peers"] = texts(status.lists.peers);
  out["services"] = texts(status.lists.services);
  for (const Counter& counter : counter_table())
    out["counters"][counter.name] = status.counters.*counter.value;
  return out;
}

}  // namespace

Result<Status> read_status(const Interface& interface) {
  const auto running = find_running(interface);
  if (!running) return tl::unexpected(running.error());
  Status out;
  out.interface = interface;
  if (!*running) return out;
  out.attached = true;
  out.mode = (*running)->mode;
  out.udp_port = (*running)->record.udp_port;
  out.kernel_types = (*running)->record.kernel_types != 0;
  out.lists = (*running)->maps.lists();
  out.counters = (*running)->maps.counters();
  return out;
}

Result<std::vector<Status>> read_all_status() {
  std::vector<Status> out;
  for (const Interface& interface : all_interfaces()) {
    auto status = read_status(interface);
    if (!status) return tl::unexpected(status.error());
    if (status->attached) out.push_back(std::move(*status));
  }
  return out;
}

std::string status_text(const Status& status) {
  if (!status.attached) return fmt::format("{}: not attached\n", status.interface.name);
  std::string out =
      fmt::format("{}: attached, {} mode, UDP port {}, {} program\n", status.interface.name, status.mode,
                  status.udp_port, status.kernel_types ? "kernel-typed" : "portable");
  const auto line = [&](const char* name, const std::string& list) {
    out += fmt::format("  {:<10} {}\n", name, list);
  };
  line("local", line_of(status.lists.local));
  line("directors", line_of(status.lists.directors));
  line("peers", line_of(status.lists.peers));
  line("services", line_of(status.lists.services));
  for (const Counter& counter : counter_table()) {
    const std::uint64_t value = status.counters.*counter.value;
    if (value != 0) out += fmt::format("  {:>14}  {:<20} {}\n", value, counter.name, counter.meaning);
  }
  return out;
}

std::string difference_text(const Status& before, const Status& after) {
  std::string out;
  const auto line = [&](const char* name, const std::string& old, const std::string& now) {
    if (old != now) out += fmt::format("  {:<10} {} -> {}\n", name, old, now);
  };
  line("UDP port", std::to_string(before.udp_port), std::to_string(after.udp_port));
  line("local", line_of(before.lists.local), line_of(after.lists.local));
  line("directors", line_of(before.lists.directors), line_of(after.lists.directors));
  line("peers", line_of(before.lists.peers), line_of(after.lists.peers));
  line("services", line_of(before.lists.services), line_of(after.lists.services));
  return out;
}

std::string statuses_json(const std::vector<Status>& statuses) {
  auto list = nlohmann::json::array();
  for (const Status& status : statuses) list.push_back(status_json(status));
  return nlohmann::json{{"interfaces", list}}.dump(2);
}

}  // namespace guideway::agent
