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
  const auto line = [&](const char* name, const std::vector<std::string>& list) {
    out += fmt::format("  {:<10} {}\n", name, list.empty() ? "-" : fmt::format("{}", fmt::join(list, " ")));
  };
  line("local", texts(status.lists.local));
  line("directors", texts(status.lists.directors));
  line("peers", texts(status.lists.peers));
  line("services", texts(status.lists.services));
  for (const Counter& counter : counter_table()) {
    const std::uint64_t value = status.counters.*counter.value;
    if (value != 0) out += fmt::format("  {:>14}  {:<20} {}\n", value, counter.name, counter.meaning);
  }
  return out;
}

std::string statuses_json(const std::vector<Status>& statuses) {
  auto list = nlohmann::json::array();
  for (const Status& status : statuses) list.push_back(status_json(status));
  return nlohmann::json{{"interfaces", list}}.dump(2);
}

}  // namespace guideway::agent
