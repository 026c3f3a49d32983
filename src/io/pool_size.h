// Pool size: how many mbufs a port needs so that receiving never starves while all other queues are full.
// What: what lies in the port's receive rings, in all ports' transmit rings, in the workers' caches and
// bursts, and
//       in the fragments they hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guideway {

inline constexpr std::uint32_t pool_cache = 256;  // mbufs a worker keeps at hand

struct PoolDemand {
  std::uint32_t rx_rings = 0;      // descriptors of the port's own receive queues, together
  std::uint32_t tx_rings_all = 0;  // descriptors of every port's transmit queues, together
  std::uint32_t workers = 1;
  std::uint32_t floor = 0;  // what the driver asks for in any case
};

[[nodiscard]] constexpr std::uint32_t pool_size(const PoolDemand& demand) {
  constexpr std::uint32_t held_fragments = 256, bursts = 128;
  // A cache grows to one and a half times its size before it gives mbufs back.
  const std::uint32_t need =
      demand.rx_rings + demand.tx_rings_all + demand.workers * (pool_cache * 3 / 2 + held_fragments + bursts);
  const std::uint32_t least = need > demand.floor ? need : demand.floor;
  std::uint32_t power = 1024;
  while (power < least + 1) power *= 2;
  return power - 1;  // a mempool's ring wastes nothing at a power of two less one
}

}  // namespace guideway
