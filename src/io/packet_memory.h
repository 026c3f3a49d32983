// Packet memory: mbufs for a program that has no ports: replay and the fuzzers.
// What: DPDK's environment on one thread, without hugepages, devices, telemetry or files, and one pool of mbufs.
// Why:  the data plane works on mbufs wherever it runs; this is what they need, and needs no root.
// Not:  ports and workers (eal.h of the daemon).
// Thread: the thread that calls start; once a process.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <span>

#include "guideway/result.h"

namespace guideway {

class PacketMemory {
 public:
  [[nodiscard]] static Result<PacketMemory> start();
  PacketMemory(PacketMemory&& other) noexcept;
  PacketMemory& operator=(PacketMemory&&) = delete;
  ~PacketMemory();

  [[nodiscard]] rte_mempool* mbufs() const { return mbufs_; }
  // An mbuf, or a chain of them, that holds these bytes; nullptr when the pool is empty.
  [[nodiscard]] rte_mbuf* make(std::span<const std::uint8_t> bytes) const;

 private:
  explicit PacketMemory(rte_mempool* mbufs) : mbufs_(mbufs) {}
  rte_mempool* mbufs_ = nullptr;
};

}  // namespace guideway
