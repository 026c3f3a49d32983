// Service cover: what packets belong to which pool, and what of it a change takes away.
// What: the site's services as the table that the data plane asks, and per service the addresses and ports that
//       would go to another pool, or to nobody, in another site; and which of two services wins what both ask for.
// Why:  a port may move to another service of the same pool without a connection noticing, and a new service may take
//       packets from one that did not change at all; only the table itself knows.
// Cost: looks at the borders between services only, never at single addresses or ports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapshot/service_table.h"
#include "state/site.h"

namespace guideway {

// In the order of the services; a match answers with the index of its service.
[[nodiscard]] std::vector<ServiceRule> service_rules(const Site& site);
[[nodiscard]] ServiceTable service_table(const Site& site);
[[nodiscard]] std::string ports_text(
    const std::vector<PortRange>& ports);  // "80,443,8000-8099"; empty: "any"

// What a service loses.
struct ServiceCut {
  std::string service;
  std::vector<PortRange> ports;  // empty: all that it has
  bool some_addresses = false;   // on a part of its prefix only
  bool unserved = false;         // by nobody any more; else by another pool
};

// Packets that two services of one site ask for, and one of them gets: that of the longer prefix; between equal prefixes
// a port wins over a range, and a range over any. (Services that ask for the same in the same way are refused.)
struct ServiceOverlap {
  std::string winner, loser;
  IpAddress address;  // of the winner: all that is contested lies in its prefix
  std::uint8_t prefix_length = 0;
  std::uint8_t protocol = 0;
  std::vector<PortRange> ports;  // empty: any
};

// In the order of the losers in the site.
[[nodiscard]] std::vector<ServiceOverlap> service_overlaps(const Site& site);
// Services that get no packet at all, since others take everything they ask for.
[[nodiscard]] std::vector<std::string> hidden_services(const Site& site);

// In the order of before's services. Services whose pool can have no connections are left out.
[[nodiscard]] std::vector<ServiceCut> services_cut(const Site& before, const Site& after);

}  // namespace guideway
