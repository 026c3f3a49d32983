// Service table: which service a packet's destination belongs to.
// What: exact addresses and prefixes (longest wins), protocol, ports, ranges, any port.
// Cost: one hashed probe for an exact address and port, whatever the number of services.
// Not:  flows or backends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "guideway/address.h"
#include "guideway/result.h"

namespace guideway {

struct PortRange {
  std::uint16_t first = 0, last = 0;  // host order, inclusive
  friend auto operator<=>(const PortRange&, const PortRange&) = default;
};

// What a service asks for; `service` is the index that a match answers with.
struct ServiceRule {
  IpAddress address;
  std::uint8_t prefix_length = 32;
  std::uint8_t protocol = 6;     // 6 TCP, 17 UDP
  std::vector<PortRange> ports;  // empty: any port
  std::uint32_t service = 0;
  bool unmatched_drop = false;  // what happens on this address where no rule matches
  std::uint8_t ping = 0;        // Ping, as a number; the first rule of an address decides
};

struct ServiceMatch {
  enum class Kind : std::uint8_t { not_ours, no_such_port, service };
  Kind kind = Kind::not_ours;
  std::uint32_t service = 0;    // with Kind::service
  bool unmatched_drop = false;  // with Kind::no_such_port
  std::uint8_t ping = 0;        // with Kind::no_such_port and Kind::service
};

class ServiceTable {
 public:
  ServiceTable();
  ServiceTable(ServiceTable&&) noexcept;
  ServiceTable& operator=(ServiceTable&&) noexcept;
  ~ServiceTable();

  // control. A more specific prefix wins over a shorter one, a port over a range, a range over any; between
  // equals the earlier rule wins.
  [[nodiscard]] static ServiceTable build(std::span<const ServiceRule> rules);

  // worker: `address` are 4 or 16 bytes in network order, `port` in host order.
  [[nodiscard]] ServiceMatch find(Family family, const std::uint8_t* address, std::uint8_t protocol,
                                  std::uint16_t port) const;
  // Whether the address belongs to any service, and how it answers pings (for ICMP, ARP and the kernel).
  [[nodiscard]] ServiceMatch find_address(Family family, const std::uint8_t* address) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace guideway
