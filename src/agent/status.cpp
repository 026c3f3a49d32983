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

const char* program_name(gw_program_kind kind) {
  return kind == GW_KERNEL_TYPED ? "kernel-typed" : "portable";
}

// Why the portable program is there, and what of it; empty for the other one.
std::string portable_because(gw_program_kind kind) {
  if (kind == GW_KERNEL_TYPED) return {};
  return fmt::format("{}: half-open and closed connections are told apart by their ports alone",
                     kind == GW_PORTABLE_NO_TYPES
                         ? "this kernel has no types of its own (/sys/kernel/btf/vmlinux)"
                         : "this kernel refuses the one that reads its types");
}

nlohmann::json status_json(const Status& status) {
  nlohmann::json out = {
      {"interface", status.interface.name}, {"attached", status.attached}, {"mode", status.mode}};
  if (!status.attached) return out;
  out["udp_port"] = status.udp_port;
  out["program"] = program_name(status.program_kind);
  if (const auto why = portable_because(status.program_kind); !why.empty()) out["portable_because"] = why;
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
  out.program_kind = static_cast<gw_program_kind>((*running)->record.program_kind);
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
  std::string out = fmt::format("{}: attached, {} mode, UDP port {}, {} program\n", status.interface.name,
                                status.mode, status.udp_port, program_name(status.program_kind));
  const auto line = [&](const char* name, const std::string& list) {
    out += fmt::format("  {:<10} {}\n", name, list);
  };
  if (const auto why = portable_because(status.program_kind); !why.empty()) line("portable", why);
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

std::vector<SettingChange> differences(const Status& before, const Status& after) {
  std::vector<SettingChange> out;
  const auto compare = [&](const char* name, const std::string& old, const std::string& now) {
    if (old != now) out.push_back({name, old, now});
  };
  compare("UDP port", std::to_string(before.udp_port), std::to_string(after.udp_port));
  compare("local", line_of(before.lists.local), line_of(after.lists.local));
  compare("directors", line_of(before.lists.directors), line_of(after.lists.directors));
  compare("peers", line_of(before.lists.peers), line_of(after.lists.peers));
  compare("services", line_of(before.lists.services), line_of(after.lists.services));
  return out;
}

std::string difference_text(const std::vector<SettingChange>& changes) {
  std::string out;
  for (const auto& [setting, before, after] : changes)
    out += fmt::format("  {:<10} {} -> {}\n", setting, before, after);
  return out;
}

std::string done_json(const Done& done) {
  auto changes = nlohmann::json::array();
  for (const auto& [setting, before, after] : done.changes)
    changes.push_back({{"setting", setting}, {"before", before}, {"after", after}});
  const nlohmann::json out = {{"verb", done.verb},
                              {"result", done.changed ? "done" : "unchanged"},
                              {"status", status_json(done.status)},
                              {"changes", changes},
                              {"warnings", done.warnings}};
  return out.dump(2);
}

std::string statuses_json(const std::vector<Status>& statuses) {
  auto list = nlohmann::json::array();
  for (const Status& status : statuses) list.push_back(status_json(status));
  return nlohmann::json{{"interfaces", list}}.dump(2);
}

std::string error_json(const Error& error) {
  const nlohmann::json out = {{"error", error.what},
                              {"where", error.where},
                              {"next", error.next},
                              {"kind", error.kind == ErrorKind::usage ? "usage" : "refused"}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace guideway::agent
