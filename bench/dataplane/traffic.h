// Traffic: packets as a driver hands them out, from as many flows as a case asks for.
// What: a ring of mbufs, used over and over; each time one comes round, its headers are written anew for another flow.
// Why:  flows differ from packet to packet in an order that no predictor and no prefetcher learns, and no packet costs
//       an allocation, so that what is measured is what happens to it.
// Cost: the same for everything that is measured; the floor pays it alone.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/burst.h"
#include "guideway/address.h"
#include "net/checksum.h"
#include "snapshot/next_hops.h"

namespace guideway::bench {

enum class Sizes : std::uint8_t { least, imix };  // 64 bytes; or 64, 576 and 1,500 as 7 to 4 to 1
enum class Popularity : std::uint8_t { uniform, zipf };
enum class Flags : std::uint8_t { ack = 0x10, syn = 0x02 };

inline constexpr MacAddress port_mac{0x02, 0, 0, 0, 0, 1};

struct TrafficRules {
  MacAddress mac = port_mac;  // that the frames are for
  Family family = Family::ipv4;
  std::uint8_t protocol = 6;
  Sizes sizes = Sizes::least;
  std::uint32_t flows = 1U << 20;
  Popularity popularity = Popularity::uniform;
  std::uint32_t services = 1;  // a flow is to the same one of them always
};

// Where addresses of a kind begin, host order: an IPv4 address, the first word of an IPv6 one.
struct AddressRange {
  std::uint32_t ipv4 = 0, ipv6 = 0;
};
inline constexpr AddressRange service_range{0xcb007100, 0x20010db8}, backend_range{0x0a010000, 0xfd000000};

[[nodiscard]] IpAddress numbered_address(Family family, const AddressRange& range, std::uint32_t n);

// Which of so many services a flow is to. By a product and not by a remainder, and its address without a table: a receive
// queue costs the same however many services there are.
[[nodiscard]] constexpr std::uint32_t service_of(std::uint32_t flow, std::uint32_t services) {
  return static_cast<std::uint32_t>(std::uint64_t{flow * 0x9e3779b1U} * services >> 32);
}

class Traffic {
 public:
  Traffic(const TrafficRules& rules, rte_mempool* mbufs);
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  // A full burst of packets of flows drawn by the rules.
  void receive(Burst& burst, Flags flags);
  // Of the flows from `first` on, one packet each.
  void receive_in_order(Burst& burst, Flags flags, std::uint32_t first);
  // Makes a packet of this flow out of one that was just received.
  void rewrite(rte_mbuf& mbuf, std::uint32_t flow, Flags flags) { write(mbuf, flow, next_size(), flags); }

 private:
  static constexpr std::size_t ring_size = 512;  // a receive queue's usual number of descriptors
  static constexpr std::size_t image_size = 96;

  void write(rte_mbuf& mbuf, std::uint32_t flow, std::size_t size, Flags flags);
  void write_ipv4(std::uint8_t* ip, std::uint32_t flow, std::size_t size);
  void write_ipv6(std::uint8_t* ip, std::uint32_t flow, std::size_t size);
  [[nodiscard]] std::uint32_t draw();
  [[nodiscard]] std::size_t next_size();

  TrafficRules rules_;
  alignas(64) std::array<std::uint8_t, image_size> image_{};  // of a frame, without what differs
  net::ChecksumSum fixed_sum_;                                // of the IPv4 header in it
  std::vector<std::uint32_t>
      popular_;  // flows in the order that they come, where they are not equally likely
  std::array<rte_mbuf*, ring_size> ring_{};
  std::size_t at_ = 0;
  std::uint64_t drawn_ = 0;
};

}  // namespace guideway::bench
