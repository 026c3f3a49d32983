// Site: the document with all services and pools, the same on every director (design section 7).
// What: plain values with the document's defaults; compared as values. A copy shares its pools and services with the
//       site that it was made from, until one of them is edited.
// Not:  parsing (site_file.h), seatings and epochs (site_version.h), one host's settings (director_config.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guideway/address.h"
#include "guideway/flow.h"
#include "guideway/placement.h"
#include "guideway/rows.h"
#include "snapshot/service_table.h"
#include "snapshot/snapshot.h"
#include "state/shared_list.h"

namespace guideway {

enum class HealthCheckType : std::uint8_t { none, tcp, http };

struct HealthCheck {
  HealthCheckType type = HealthCheckType::none;
  std::uint16_t port = 0;  // host order
  std::string path = "/";
  std::string host;  // Host header; empty: the backend's address
  std::chrono::milliseconds interval{2000};
  std::chrono::milliseconds timeout{1000};
  std::uint32_t rise = 2, fall = 3;
  bool through_tunnel = false;
  Health initial = Health::up;  // what unknown counts as
  friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

struct Backend {
  std::string name;
  IpAddress address;
  std::uint32_t weight = 100;
  BackendState state = BackendState::active;
  friend bool operator==(const Backend&, const Backend&) = default;
};

struct Pool {
  std::string name;
  Encapsulation encapsulation = Encapsulation::gue;
  std::uint32_t rows = rows_default;
  Affinity affinity = Affinity::flow;
  HopRules hop_rules;  // hops, panic, none_healthy
  DealMode deal = DealMode::stable;
  std::optional<std::uint64_t> seed;  // absent: the site's hash_seed
  bool copy_tos = true;               // tos = "copy" | "zero"
  bool flow_table = true;
  std::uint16_t gue_port = 19523;
  bool udp_checksum = false;  // of the outer UDP header of GUE; false: 0
  TooBig too_big = TooBig::fragment;
  OnDown on_down = OnDown::keep;
  FlowTimeouts timeouts;
  HealthCheck health;
  std::vector<Backend> backends;  // in the document's order; names unique, addresses unique and of one family
  friend bool operator==(const Pool&, const Pool&) = default;

  [[nodiscard]] const Backend* find_backend(std::string_view wanted) const;
  // hop_rules, cut to what a packet of this encapsulation can name.
  [[nodiscard]] HopRules rules() const {
    HopRules out = hop_rules;
    if (!names_further_hops(encapsulation)) out.hops = 1;
    return out;
  }
};

struct Service {
  std::string name;
  IpAddress address;
  std::uint8_t prefix_length = 32;  // 32 or 128 for a single address
  std::uint8_t protocol = 6;        // 6 TCP, 17 UDP
  std::vector<PortRange> ports;     // sorted, disjoint; empty: "any"
  std::string pool;
  Unmatched unmatched = Unmatched::kernel;
  Ping ping = Ping::answer;
  friend bool operator==(const Service&, const Service&) = default;
};

struct Site {
  std::optional<std::uint64_t> hash_seed;  // absent: 0, and check warns
  SharedList<Pool> pools;
  SharedList<Service> services;
  friend bool operator==(const Site&, const Site&) = default;

  [[nodiscard]] const Pool* find_pool(std::string_view name) const;
  [[nodiscard]] const Service* find_service(std::string_view name) const;
  [[nodiscard]] std::uint64_t seed_of(const Pool& pool) const {
    return pool.seed.value_or(hash_seed.value_or(0));
  }
};

// Equal to `site`; what it has in common with `before` it shares with it.
[[nodiscard]] Site sharing(Site site, const Site& before);

// Whether both have the same pools with the same backends (names and addresses), in the same order, each two of them
// alike: most changes leave these alone, and whoever follows them need not look again.
template <class Alike>
[[nodiscard]] bool same_backends(const Site& a, const Site& b, Alike alike) {
  const auto same_one = [](const Backend& x, const Backend& y) {
    return x.name == y.name && x.address == y.address;
  };
  return std::equal(a.pools.begin(), a.pools.end(), b.pools.begin(), b.pools.end(),
                    [&](const Pool& x, const Pool& y) {
                      return &x == &y || (x.name == y.name && alike(x, y) &&
                                          std::equal(x.backends.begin(), x.backends.end(), y.backends.begin(),
                                                     y.backends.end(), same_one));
                    });
}

}  // namespace guideway
