// Counters: what the workers count and the control side reads.
// What: 64-bit counters in plain memory, one writer (the worker), any number of readers; no question to a
// worker. Cost: a load and a store a count; a backend's counters of one worker share half a cache line. Not:
// rates or totals; the readers add up the workers and take differences.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "snapshot/ids.h"
#include "snapshot/verdict.h"

namespace guideway {

// Written by one worker, read by anybody. It only grows, but for what is counted while it is there (Verdict::held).
class Counter {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void take_back(std::uint64_t n) { add(-n); }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// Of packets that a port took: what was dropped on the way counts by its reason alone.
struct BackendCounters {
  Counter packets;
  Counter bytes;            // of the inner IP packet
  Counter new_flows;        // SYNs and UDP flows decided anew
  Counter tracked_packets;  // packets that followed a flow-table entry
};
static_assert(sizeof(BackendCounters) == 32);

// When a backend last had a flow that no table has: by the workers' clock, written by one worker, read by anybody. After
// 49 days the clock comes by the same numbers again, and an old mark is taken for a new one for a while.
struct BackendMarks {
  static constexpr std::uint32_t never = 0;
  std::atomic<std::uint32_t> stranger_ms{never};  // a connection goes on that may be its own
  std::atomic<std::uint32_t> refused_ms{never};   // a flow of it found no room in the table

  static void set(std::atomic<std::uint32_t>& mark, std::uint32_t now_ms) {
    mark.store(now_ms == never ? never + 1 : now_ms, std::memory_order_relaxed);
  }
};

// Likewise.
struct ServiceCounters {
  Counter packets;
  Counter bytes;
  Counter new_flows;
  Counter unmatched;  // packets to its address that no port took
};

struct alignas(64) VerdictCounters {
  std::array<Counter, verdict_count> packets;
  std::array<Counter, verdict_count> bytes;
  Counter packets_in, bytes_in;
  Counter bursts, polls_idle;  // for the busy share of a worker
  Counter flows_created, flows_evicted;
  Counter flows_refused;  // new flows that found no room in the flow table
  Counter strangers;      // packets of TCP connections that go on and that this worker did not see begin
  // What the host itself sends by a port's twin: no packets in, and under no verdict.
  Counter host_frames;       // that the port took
  Counter host_frames_lost;  // that it did not take
  // Frames handed to the owner of a queue, which had not taken them when the workers ended: they have their verdict
  // (or are host_frames) and yet did not leave.
  Counter left_behind;

  void add(Verdict verdict, std::uint64_t frames, std::uint64_t frame_bytes) {
    packets[static_cast<std::size_t>(verdict)].add(frames);
    bytes[static_cast<std::size_t>(verdict)].add(frame_bytes);
  }
  void count(Verdict verdict, std::uint64_t frame_bytes) { add(verdict, 1, frame_bytes); }
  void take_back(Verdict verdict, std::uint64_t frame_bytes) {
    packets[static_cast<std::size_t>(verdict)].take_back(1);
    bytes[static_cast<std::size_t>(verdict)].take_back(frame_bytes);
  }
};

// One worker's counters. The arrays are reserved for every id there can be and only touched pages cost
// memory, so that a worker never checks a bound and the control side never moves an array under it.
class WorkerCounters {
 public:
  WorkerCounters();
  ~WorkerCounters();
  WorkerCounters(const WorkerCounters&) = delete;
  WorkerCounters& operator=(const WorkerCounters&) = delete;

  VerdictCounters verdicts;
  [[nodiscard]] BackendCounters& backend(BackendId id) { return backends_[to_index(id)]; }
  [[nodiscard]] BackendMarks& marks(BackendId id) { return marks_[to_index(id)]; }
  [[nodiscard]] const BackendMarks& marks(BackendId id) const { return marks_[to_index(id)]; }
  [[nodiscard]] ServiceCounters& service(ServiceId id) { return services_[to_index(id)]; }
  [[nodiscard]] const BackendCounters& backend(BackendId id) const { return backends_[to_index(id)]; }
  [[nodiscard]] const ServiceCounters& service(ServiceId id) const { return services_[to_index(id)]; }

 private:
  BackendCounters* backends_ = nullptr;
  BackendMarks* marks_ = nullptr;
  ServiceCounters* services_ = nullptr;
};

}  // namespace guideway
