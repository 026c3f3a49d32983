// Transmitter: one worker's way out of a port.
// What: sends on the worker's own queue; where it owns none, hands the frames to the queue's owner through a ring,
//       and the owner sends them with its next poll.
// Why:  a transmit queue has no lock, and the data plane takes none.
// Thread: one worker. Frames that were not taken stay the caller's.
// Not:  a second try for the worker's own frames: what a full queue does not take is lost and counted at once.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <cstdint>
#include <utility>

#include "io/port.h"

namespace guideway {

class Transmitter {
 public:
  // `owns`: this worker sends on `queue` itself. `handoff`: where other workers leave frames for that queue; may be
  // null when there are none.
  Transmitter(QueuePair queue, bool owns, rte_ring* handoff)
      : queue_(queue), owns_(owns), handoff_(handoff) {}

  [[nodiscard]] std::uint16_t send(rte_mbuf** frames, std::uint16_t count) {
    if (owns_) return rte_eth_tx_burst(queue_.dpdk_port, queue_.queue, frames, count);
    return static_cast<std::uint16_t>(
        rte_ring_enqueue_burst(handoff_, reinterpret_cast<void**>(frames), count, nullptr));
  }

  // Sends what others left. Nothing is dropped here: what the queue does not take waits, and the ring fills up, so
  // that the worker that chose the frame's verdict also counts its loss.
  [[nodiscard]] bool drain() {
    if (waiting_ == 0 && !take()) return false;
    const auto sent = rte_eth_tx_burst(queue_.dpdk_port, queue_.queue, frames_.data() + first_, waiting_);
    first_ = static_cast<std::uint16_t>(first_ + sent);
    waiting_ = static_cast<std::uint16_t>(waiting_ - sent);
    return sent > 0;
  }

  // At the end: frees what the queue never took, and answers with how many those were.
  [[nodiscard]] std::uint64_t clear() {
    std::uint64_t freed = 0;
    while (waiting_ > 0 || take()) {
      rte_pktmbuf_free_bulk(frames_.data() + first_, waiting_);
      freed += std::exchange(waiting_, std::uint16_t{0});
    }
    return freed;
  }

 private:
  // The next frames from the ring, when none wait; false: there are none.
  bool take() {
    if (!owns_ || handoff_ == nullptr) return false;
    first_ = 0;
    waiting_ = static_cast<std::uint16_t>(rte_ring_dequeue_burst(
        handoff_, reinterpret_cast<void**>(frames_.data()), static_cast<unsigned>(frames_.size()), nullptr));
    return waiting_ > 0;
  }

  QueuePair queue_;
  bool owns_;
  rte_ring* handoff_;
  std::array<rte_mbuf*, 32> frames_{};
  std::uint16_t first_ = 0, waiting_ = 0;
};

}  // namespace guideway
