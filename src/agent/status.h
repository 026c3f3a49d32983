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
// "  peers      10.0.1.12 -> 10.0.1.0/24": a line for each setting that differs.
[[nodiscard]] std::string difference_text(const Status& before, const Status& after);
[[nodiscard]] std::string statuses_json(const std::vector<Status>& statuses);

}  // namespace guideway::agent
