// Fragment table: what became of a datagram's first fragment, so that the later ones follow it.
// What: 4,096 datagrams a worker for 2 s from their first packet, and up to 256 later fragments that came before their
//       first one and wait for it. Fragments that overlap end their datagram (RFC 5722, for IPv4 too).
// Why:  only the first fragment has ports. Nothing is reassembled: fragments leave as they came.
// Cost: an entry is two cache lines; a full set gives up the datagram that ends first, a full waiting room the
//       packet that has waited longest. A flood of fragments costs only fragments.
// Not:  whose address it is, and what the backend makes of the pieces.
// Thread: one worker writes; any thread may ask `leader_of`. A datagram is known by a keyed 64-bit hash of its
//         addresses, id and (IPv4) protocol, which nobody outside can aim at.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/byte_ranges.h"
#include "net/packet.h"
#include "snapshot/counters.h"
#include "snapshot/ids.h"

namespace guideway {

// What became of the first fragment, and what its later ones need to know of it.
struct Leader {
  enum class Fate : std::uint8_t { unknown, forward, kernel, dropped };
  Fate fate = Fate::unknown;
  std::uint8_t protocol = 0;
  std::uint16_t source_port = 0, destination_port = 0;  // host order
  BackendId backend = no_backend;                       // with Fate::forward
  friend bool operator==(const Leader&, const Leader&) = default;
};

// A place in the table, good until the end of the burst.
using DatagramIndex = std::uint16_t;
inline constexpr DatagramIndex no_datagram = 0xffff;

class FragmentTable {
 public:
  static constexpr std::size_t datagrams_max = 4096, held_max = 256;
  static constexpr std::uint32_t timeout_ms = 2000;

  // `secret` keys the hash.
  explicit FragmentTable(std::uint64_t secret);
  ~FragmentTable();
  FragmentTable(const FragmentTable&) = delete;
  FragmentTable& operator=(const FragmentTable&) = delete;

  // The datagram of a fragment; `ip` is its IP header. The same in all tables of one secret; never 0.
  [[nodiscard]] std::uint64_t key_of(const std::uint8_t* ip, const Packet& packet) const;

  // worker
  // The datagram of this key; made, and another one ended for it, where there is none.
  [[nodiscard]] DatagramIndex find_or_make(std::uint64_t key, std::uint32_t now_ms,
                                           VerdictCounters& counters);
  // Notes a fragment that came. Anything but `fresh`: drop it. One that overlaps ends its datagram.
  [[nodiscard]] ByteRanges::Added add(DatagramIndex index, const Packet& packet, std::uint32_t now_ms,
                                      VerdictCounters& counters);
  [[nodiscard]] Leader leader(DatagramIndex index) const {
    return unpack(datagrams_[index].leader.load(std::memory_order_relaxed));
  }
  // Keeps a later fragment until its first one has come. False, and the packet stays the caller's, when all places are
  // taken by packets that are ready.
  [[nodiscard]] bool hold(DatagramIndex index, rte_mbuf* mbuf, std::uint8_t port, std::uint32_t now_ms,
                          VerdictCounters& counters);
  // The first fragment has been decided: what waits for it becomes ready, or is dropped with it.
  void decide(DatagramIndex index, const Leader& leader, VerdictCounters& counters);
  // Asks the other workers about the datagrams that wait here. At most once a millisecond.
  // `find(key)`: what they know, as an optional Leader.
  template <class Find>
  void ask(std::uint32_t now_ms, VerdictCounters& counters, Find find) {
    if (now_ms == asked_ms_) return;
    asked_ms_ = now_ms;
    for (HeldIndex at = waiting_.first; at != none;) {
      const DatagramIndex index = held_[at].datagram;
      const std::optional<Leader> leader = find(datagrams_[index].key.load(std::memory_order_relaxed));
      at = held_[at].newer;
      if (!leader) continue;
      // The packets of this datagram leave the queue: go on behind them.
      while (at != none && held_[at].datagram == index) at = held_[at].newer;
      decide(index, *leader, counters);
    }
  }
  // Packets that need not wait any longer, all from one port: how many. The caller has them then.
  [[nodiscard]] std::uint16_t take_ready(std::span<rte_mbuf*> to, std::uint8_t& port,
                                         VerdictCounters& counters);
  // Drops what has waited too long.
  void expire(std::uint32_t now_ms, VerdictCounters& counters);
  // Drops all that waits; at the end.
  void clear(VerdictCounters& counters);
  [[nodiscard]] bool holds_any() const { return waiting_.first != none || ready_.first != none; }

  // any thread
  [[nodiscard]] std::optional<Leader> leader_of(std::uint64_t key, std::uint32_t now_ms) const;

 private:
  using HeldIndex = std::uint16_t;
  static constexpr HeldIndex none = 0xffff;
  static constexpr std::size_t ways = 4;

  struct Datagram {
    std::atomic<std::uint64_t> key{0};  // 0: free
    std::atomic<std::uint64_t> leader{0};
    std::atomic<std::uint32_t> deadline_ms{0};
    HeldIndex first_held = none, last_held = none;
    std::uint16_t end = 0;  // of the datagram, once its last fragment has come
    bool complete = false;
    ByteRanges ranges;
  };
  struct Held {
    rte_mbuf* mbuf = nullptr;
    std::uint32_t deadline_ms = 0;
    DatagramIndex datagram = no_datagram;
    HeldIndex older = none, newer = none;  // in its queue
    HeldIndex next = none;                 // of its datagram, or of the free ones
    std::uint8_t port = 0;
  };
  struct Queue {
    HeldIndex first = none, last = none;
  };

  static std::uint64_t pack(const Leader& leader);
  static Leader unpack(std::uint64_t word);
  static bool passed(std::uint32_t deadline_ms, std::uint32_t now_ms) {
    return static_cast<std::int32_t>(deadline_ms - now_ms) < 0;
  }
  [[nodiscard]] std::size_t set_of(std::uint64_t key) const { return key % (datagrams_max / ways) * ways; }
  void begin(Datagram& datagram, std::uint64_t key, std::uint32_t now_ms, VerdictCounters& counters);
  void drop_held_of(Datagram& datagram, VerdictCounters& counters);
  void drop_oldest(VerdictCounters& counters);
  void push(Queue& queue, HeldIndex index);
  void unlink(Queue& queue, HeldIndex index);
  void give_back(HeldIndex index);

  std::uint64_t secret_;
  std::vector<Datagram> datagrams_;
  std::array<Held, held_max> held_;
  HeldIndex free_ = 0;
  Queue waiting_;  // oldest first
  Queue ready_;
  std::uint32_t asked_ms_ = 0;
};

}  // namespace guideway
