// Status: what is attached where, and what it has done.
#pragma once

#include <string>
#include <vector>

#include "agent/interface.h"
#include "agent/maps.h"

namespace guideway::agent {

struct Status {
  Interface interface;
  bool attached = false;
  std::string mode = "none";  // "native" | "generic" | "offloaded"
  std::uint16_t udp_port = 0;
  gw_program_kind program_kind = GW_PORTABLE_REFUSED;
  Lists lists;
  gw_counters counters{};
};

[[nodiscard]] Result<Status> read_status(const Interface& interface);
// Of all interfaces of this network namespace where the agent is attached.
[[nodiscard]] Result<std::vector<Status>> read_all_status();
[[nodiscard]] std::string status_text(const Status& status);
// A setting that an update has changed, as a person reads its values.
struct SettingChange {
  std::string setting, before, after;
};
[[nodiscard]] std::vector<SettingChange> differences(const Status& before, const Status& after);
// "  peers      10.0.1.12 -> 10.0.1.0/24": a line for each.
[[nodiscard]] std::string difference_text(const std::vector<SettingChange>& changes);

// For programs, each one object. What attach, update and detach have done:
struct Done {
  std::string verb;
  bool changed = true;  // false: it was as asked
  Status status;        // now
  std::vector<SettingChange> changes;
  std::vector<std::string> warnings;
};
[[nodiscard]] std::string done_json(const Done& done);
[[nodiscard]] std::string statuses_json(const std::vector<Status>& statuses);
[[nodiscard]] std::string error_json(const Error& error);

}  // namespace guideway::agent
