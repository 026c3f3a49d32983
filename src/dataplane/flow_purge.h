// Flow purge: entries that control wants out of one worker's flow table.
// What: one order at a time, all entries of a backend or the one of a flow; the worker takes them out between its bursts,
//       some buckets a round, and counts them.
// Why:  a table has one writer, so that no look-up waits for a lock; and a table of a million flows read in one go would
//       leave the worker's queues alone for milliseconds.
// Cost: the worker reads one word a round.
// Thread: `ask` is control's, one thread at a time; `work` the worker's; `idle` and `removed` are for any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dataplane/flow_table.h"

namespace guideway {

struct FlowPurgeOrder {
  BackendId backend = no_backend;     // all entries of this one,
  std::optional<std::uint64_t> hash;  // or, where there is one, the entry of this flow, whosever it is
};

class FlowPurge {
 public:
  static constexpr std::size_t buckets_a_round = 256;  // 16 KiB

  // control. Only while `idle`: the worker reads the order as it stands here.
  void ask(const FlowPurgeOrder& order) {
    order_ = order;
    asked_.store(asked_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // any: whether the last order is done, and what it removed.
  [[nodiscard]] bool idle() const {
    return done_.load(std::memory_order_acquire) == asked_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t removed() const { return removed_.load(std::memory_order_relaxed); }

  // worker, once a round: whether there was something to do. `forgotten(backend)` is called where live entries of a
  // backend were removed: its flows go on and are in no table.
  template <class Forgotten>
  bool work(FlowTable& table, std::uint32_t now_ms, Forgotten forgotten) {
    const std::uint64_t asked = asked_.load(std::memory_order_acquire);
    if (asked == done_.load(std::memory_order_relaxed)) [[likely]]
      return false;
    if (order_.hash) {
      const FlowTable::Entry entry = table.find_entry(*order_.hash, now_ms);
      if (entry) {
        forgotten(entry.backend());
        table.erase(entry);
      }
      finish(asked, entry ? 1 : 0);
      return true;
    }
    const std::size_t erased = table.erase_of(order_.backend, at_, buckets_a_round, now_ms);
    if (erased != 0) forgotten(order_.backend);
    count_ += erased;
    at_ += buckets_a_round;
    if (at_ >= table.buckets()) finish(asked, count_);
    return true;
  }

 private:
  void finish(std::uint64_t asked, std::uint64_t removed) {
    at_ = count_ = 0;
    removed_.store(removed, std::memory_order_relaxed);
    done_.store(asked, std::memory_order_release);
  }

  FlowPurgeOrder order_;                             // control's while idle, else the worker's
  alignas(64) std::atomic<std::uint64_t> asked_{0};  // control writes, the worker reads
  alignas(64) std::atomic<std::uint64_t> done_{0};   // the worker writes, control reads
  std::atomic<std::uint64_t> removed_{0};            // likewise; of the last order
  std::size_t at_ = 0;                               // the worker's own: the next bucket
  std::uint64_t count_ = 0;
};

}  // namespace guideway
