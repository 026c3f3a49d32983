// Settings: what an operator asks of the agent, from the command line and from a file.
// What: the lists of addresses, the port and the mode; each may be left out.
// Why:  `attach` fills what is left out with defaults, `update` with what is in force.
// Not:  reading or writing the programs' maps (maps.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/prefix.h"

namespace guideway::agent {

inline constexpr std::uint16_t udp_port_default = 19523;

enum class Mode { automatic, native, generic };

struct Settings {
  std::optional<std::string> interface;
  std::optional<std::vector<Prefix>> directors;
  std::optional<std::vector<Prefix>> peers;
  std::optional<std::vector<Prefix>> services;
  std::optional<std::vector<IpAddress>> local;
  std::optional<Mode> mode;
  std::optional<std::uint16_t> udp_port;
};

// The same lists as they are in force; every one sorted and without repeats.
struct Lists {
  std::vector<Prefix> directors;
  std::vector<Prefix> peers;
  std::vector<Prefix> services;
  std::vector<IpAddress> local;
  friend bool operator==(const Lists&, const Lists&) = default;
};

[[nodiscard]] Result<Mode> parse_mode(const std::string& text);
[[nodiscard]] Result<std::uint16_t> parse_udp_port(std::int64_t port);
[[nodiscard]] Result<std::vector<Prefix>> parse_prefixes(const std::vector<std::string>& texts);
[[nodiscard]] Result<std::vector<IpAddress>> parse_addresses(const std::vector<std::string>& texts);

// Errors carry file:line:column. Unknown keys are refused.
[[nodiscard]] Result<Settings> read_settings_file(const std::string& path);

// `over` wins where it says something.
[[nodiscard]] Settings merged(Settings under, const Settings& over);

}  // namespace guideway::agent
