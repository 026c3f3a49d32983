// Service table: which service a packet's destination belongs to.
// What: exact addresses and prefixes (longest wins), protocol, ports, ranges, any port.
// Why:  a hash over address, protocol and port finds a service of one address and one port by one probe; the
//       rest (prefixes, ranges, any) is asked prefix length by prefix length, longest first.
// Cost: one hashed probe for an exact address and port, whatever the number of services; else one more per
//       prefix length in use, and a binary search in that prefix's ranges.
// Not:  flows or backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "guideway/address.h"

namespace guideway {

struct PortRange {
  std::uint16_t first = 0, last = 0;  // host order, inclusive
  friend auto operator<=>(const PortRange&, const PortRange&) = default;
};

// What a service asks for; `service` and `pool` are numbers of the caller's that a match answers with.
struct ServiceRule {
  IpAddress address;
  std::uint8_t prefix_length = 32;
  std::uint8_t protocol = 6;     // 6 TCP, 17 UDP
  std::vector<PortRange> ports;  // empty: any port
  std::uint16_t service = 0, pool = 0;
  bool unmatched_drop = false;  // what happens on this address where no rule matches
  std::uint8_t ping = 0;        // Ping, as a number; the first rule of an address decides
  friend bool operator==(const ServiceRule&, const ServiceRule&) = default;
};

struct ServiceMatch {
  enum class Kind : std::uint8_t { not_ours, no_such_port, service };
  Kind kind = Kind::not_ours;
  bool unmatched_drop = false;  // of the longest prefix with this address; not with Kind::not_ours
  std::uint8_t ping = 0;        // likewise
  std::uint16_t service = 0;    // Kind::service: the match; Kind::no_such_port: the first rule of the address
  std::uint16_t pool = 0;       // likewise
};

class ServiceTable {
 public:
  ServiceTable();

  // control. Of the rules that match a packet's address, protocol and port, the one with the longest prefix
  // wins; between equal prefixes a port wins over a range, a range over any, and then the earlier rule.
  // unmatched and ping of an address are those of the first rule of its longest prefix.
  [[nodiscard]] static ServiceTable build(std::span<const ServiceRule> rules);

  // worker: the match where a rule for just this address and port decides, which is what nearly every packet has;
  // nullptr says that find has to be asked. `address` are 4 or 16 bytes in network order; `door` is what door_of makes
  // of protocol and port, and what stands at the end of a flow key.
  [[nodiscard, gnu::always_inline]] const ServiceMatch* find_exact(Family family, const std::uint8_t* address,
                                                                   std::uint32_t door) const {
    if (family == Family::ipv4) [[likely]] {
      const std::uint64_t key = exact_ipv4_key(address, door);
      for (std::size_t at = first_ipv4(key);; at = (at + 1) & exact_ipv4_mask_) {
        const SlotIpv4& slot = exact_ipv4_[at];
        if (slot.key == key) [[likely]]
          return &slot.match;
        if (slot.key == 0) return nullptr;
      }
    }
    const Key key = exact_ipv6_key(address, door);
    for (std::size_t at = hash(key) & exact_mask_;; at = (at + 1) & exact_mask_) {
      const Slot& slot = exact_[at];
      if (slot.key == key) [[likely]]
        return &slot.match;
      if (slot.key.tail == 0) return nullptr;
    }
  }
  // any thread: the service of any packet.
  [[nodiscard]] ServiceMatch find(Family family, const std::uint8_t* address, std::uint32_t door) const {
    const ServiceMatch* exact = find_exact(family, address, door);
    return exact != nullptr ? *exact : find_by_prefix(family, address, door);
  }
  // Port in host order.
  [[nodiscard]] ServiceMatch find(Family family, const std::uint8_t* address, std::uint8_t protocol,
                                  std::uint16_t port) const {
    return find(family, address, door_of(protocol, port));
  }
  // The port as on the wire in the low half, the protocol above it. A rule's protocol is not 0, nor is its door.
  [[nodiscard]] static constexpr std::uint32_t door_of(std::uint8_t protocol, std::uint16_t port) {
    return std::uint32_t{protocol} << 16 | __builtin_bswap16(port);
  }
  // Whether the address belongs to any service, and how it answers pings (for ICMP, ARP and the kernel):
  // no_such_port or not_ours.
  [[nodiscard]] ServiceMatch find_address(Family family, const std::uint8_t* address) const;

 private:
  // Of a prefix: the address (IPv4 in the low half), then its length and the family. Of an exact rule: the address as it
  // lies in memory, then the door. Tail 0 is an empty slot.
  struct Key {
    std::uint64_t high = 0, low = 0;
    std::uint32_t tail = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Slot {
    Key key;
    ServiceMatch match;
  };
  static_assert(sizeof(Slot) == 32, "two to a cache line");
  // IPv4's have a key that is compared at once: the address as it lies in memory, then the door; 0 is an empty slot.
  struct SlotIpv4 {
    std::uint64_t key = 0;
    ServiceMatch match;
  };
  static_assert(sizeof(SlotIpv4) == 16, "four to a cache line");

  // Disjoint, ascending; which service takes these ports.
  struct Segment {
    std::uint16_t first = 0, last = 0;
    std::uint16_t service = 0, pool = 0;
  };
  struct Ports {
    std::uint8_t protocol = 0;
    std::vector<Segment> segments;
  };
  struct Prefix {
    Key key;  // masked address; tail: prefix length and family
    ServiceMatch address_match;
    std::vector<Ports> protocols;
  };
  struct PrefixSlot {
    Key key;
    std::uint32_t prefix = 0;  // index into prefixes_
  };

  static Key address_key(Family family, const std::uint8_t* address) {
    Key key;
    if (family == Family::ipv4) {
      std::uint32_t bytes = 0;
      std::memcpy(&bytes, address, 4);
      key.low = __builtin_bswap32(bytes);
      key.tail = 4U << 24;
    } else {
      std::memcpy(&key.high, address, 8);
      std::memcpy(&key.low, address + 8, 8);
      key.high = __builtin_bswap64(key.high);
      key.low = __builtin_bswap64(key.low);
      key.tail = 6U << 24;
    }
    return key;
  }
  static std::uint64_t exact_ipv4_key(const std::uint8_t* address, std::uint32_t door) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, address, 4);
    return std::uint64_t{door} << 32 | bytes;
  }
  // Fibonacci hashing: the product's highest bits spread keys that differ by a step, as a site's addresses do, so that
  // nearly all are found where they are looked for first. Turned round, the address stands in the upper half, its last
  // byte lowest, and what it is multiplied by there is the lower half of the constant. The upper half, which spreads ports,
  // is no number of that row: else a step of 65,536 in the address would be that of one port, and addresses of as many
  // networks with the same ports each would all look for the same places.
  [[nodiscard]] std::size_t first_ipv4(std::uint64_t key) const {
    return __builtin_bswap64(key) * 0x2ebab4479e3779b9 >> exact_ipv4_shift_;
  }
  static Key exact_ipv6_key(const std::uint8_t* address, std::uint32_t door) {
    Key key;
    std::memcpy(&key.high, address, 8);
    std::memcpy(&key.low, address + 8, 8);
    key.tail = door;
    return key;
  }
  static std::size_t hash(const Key& key) {
    std::uint64_t h = (key.low + std::uint64_t{key.tail} * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    h ^= key.high * 0x94d049bb133111eb;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93;
    return h >> 32;
  }
  static Key masked(Key key, Family family, std::uint8_t length);

  [[nodiscard]] const Prefix* find_prefix(const Key& key) const;
  [[nodiscard]] ServiceMatch find_by_prefix(Family family, const std::uint8_t* address,
                                            std::uint32_t door) const;
  void index_prefixes();
  void index_exact();
  [[nodiscard]] std::span<const std::uint8_t> lengths(Family family) const {
    return family == Family::ipv4 ? lengths_ipv4_ : lengths_ipv6_;
  }

  std::vector<Slot> exact_;  // IPv6; a power of two, at most half full
  std::size_t exact_mask_ = 0;
  std::vector<SlotIpv4> exact_ipv4_;  // likewise
  std::size_t exact_ipv4_mask_ = 0;
  unsigned exact_ipv4_shift_ = 0;  // 64 less the bits of an index
  std::vector<Prefix> prefixes_;
  std::vector<PrefixSlot> prefix_slots_;  // likewise
  std::size_t prefix_mask_ = 0;
  std::vector<std::uint8_t> lengths_ipv4_, lengths_ipv6_;  // in use, longest first
};

}  // namespace guideway
