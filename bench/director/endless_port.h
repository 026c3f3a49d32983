// Endless port: a ring port of the daemon whose receive queue never runs dry.
// What: a callback of ethdev in the worker's own thread: it takes back what the worker sent since the call before, writes
//       headers of other flows into the packets and hands them out as received. Packet 0 of every burst is a SYN of the
//       probe's flow, whose outer destination tells which rows the worker goes by.
// Why:  the worker runs as the daemon runs it, as fast as it can, and the other core is left to the control threads. No
//       thread that fills a ring has to be faster than the worker.
// Cost: a rewrite of headers a packet and two readings of the TSC a burst, in every round alike.
// Thread: the worker's, but for what stands under "control".
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/dataplane/traffic.h"

struct rte_ring;

namespace guideway::bench {

// The rounds of the worker's loop, each from one poll of the port to the next.
class Rounds {
 public:
  void add(std::uint64_t cycles) {
    ++count_;
    most_ = std::max(most_, cycles);
    ++of_[std::min<std::size_t>(cycles / cycles_each, of_.size() - 1)];
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double most() const { return static_cast<double>(most_); }
  // Cycles that so many of all rounds do not exceed, to the next `cycles_each`.
  [[nodiscard]] double share(double of_all) const;

 private:
  static constexpr std::size_t cycles_each = 64;
  std::uint64_t count_ = 0, most_ = 0;
  std::array<std::uint64_t, 1U << 14> of_{};  // up to half a millisecond; the last holds the longer ones
};

class EndlessPort {
 public:
  enum class Mode : std::uint8_t { silent, unmeasured, without_changes, with_changes };

  // Control, once the daemon has the port "ring:NAME"; begins silent. It stays until the process ends, as nobody knows when
  // the worker has left it.
  [[nodiscard]] static EndlessPort& open(const std::string& name, const TrafficRules& rules);

  // Control.
  void set(Mode mode) { mode_.store(mode, std::memory_order_release); }
  void set_probe(std::uint32_t flow) { flow_.store(flow, std::memory_order_release); }
  // Control: the outer IPv4 destination of the probe's last packet (host order; 0: none yet), and when it became that.
  struct Probe {
    std::uint32_t destination = 0;
    std::uint64_t since_tsc = 0;
  };
  [[nodiscard]] Probe probe() const;
  // Control: the worker's thread, once it has polled.
  [[nodiscard]] int worker_thread() const { return thread_.load(std::memory_order_acquire); }

  // Control, in silence: what was handed out and what came back.
  [[nodiscard]] std::uint64_t received() const { return received_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t sent() const { return sent_.load(std::memory_order_acquire); }
  [[nodiscard]] const Rounds& rounds(bool with_changes) const { return rounds_[with_changes ? 1 : 0]; }
  // Those in which the probe's packet first went elsewhere: the first with the new rows.
  [[nodiscard]] const std::vector<double>& swaps() const { return swaps_; }

 private:
  EndlessPort(const std::string& name, const TrafficRules& rules);
  std::uint16_t poll(rte_mbuf** packets, std::uint16_t room);
  void take_back();
  void look_at(const rte_mbuf& probe);
  void measure(Mode mode, std::uint64_t now);

  static constexpr std::size_t swaps_max = 1U << 16;
  std::uint16_t port_ = 0;
  rte_ring* sent_ring_ = nullptr;
  rte_mempool* mbufs_ = nullptr;
  std::unique_ptr<Traffic> traffic_;
  Burst burst_;

  alignas(64) std::atomic<Mode> mode_{Mode::silent};  // control writes, the worker reads; so the next
  std::atomic<std::uint32_t> flow_{0};

  alignas(64) std::atomic<std::uint64_t> seen_{
      0};  // flow << 32 | destination; the worker writes from here on
  std::atomic<std::uint64_t> since_tsc_{0};
  std::atomic<int> thread_{0};
  std::atomic<std::uint64_t> received_{0}, sent_{0};
  std::uint32_t flow_sent_ = 0;
  bool probe_expected_ = false, swapped_ = false;
  std::uint64_t now_ = 0, last_ = 0;
  Mode mode_before_ = Mode::silent;
  std::array<Rounds, 2> rounds_;
  std::vector<double> swaps_;
};

}  // namespace guideway::bench
