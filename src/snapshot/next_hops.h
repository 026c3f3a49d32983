// Next hops: where a frame to a backend goes, outside the snapshot.
// What: one 64-bit atomic cell per backend address: port, MAC and whether it may be used. control/neighbours
//       (or a static setting) writes, the workers read.
// Why:  a neighbour's or a route's change acts at once and rebuilds nothing.
//       A cell is its address's as long as somebody holds it: a pool of a snapshot, which workers may still read when the
//       site has no such backend any more, or whoever writes it. So addresses come and go without end.
// Cost: 8 bytes a backend address; 1,000 of them live in L1.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "guideway/address.h"

namespace guideway {

using MacAddress = std::array<std::uint8_t, 6>;

struct NextHop {
  enum class State : std::uint8_t { unresolved = 0, resolved = 1, port_down = 2 };
  State state = State::unresolved;
  std::uint8_t port = 0;  // index into the director's ports
  MacAddress mac{};
  bool behind_router = false;  // the MAC is a router's, not the backend's own
  friend bool operator==(const NextHop&, const NextHop&) = default;
};

using NextHopIndex = std::uint32_t;

class NextHops {
  struct Book;

 public:
  static constexpr std::size_t capacity = 1U << 17;

  NextHops();

  // Cells that are held, in the order in which they were asked for. One that nobody holds any more is unresolved, and
  // for the next address. May outlive the table.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { let_go(); }
    [[nodiscard]] NextHopIndex operator[](std::size_t i) const { return cells_[i]; }

   private:
    friend class NextHops;
    void let_go() noexcept;
    std::shared_ptr<Book> book_;
    std::vector<NextHopIndex> cells_;
  };
  // control, any thread: the cells of these addresses; an address that is held already has the one it has. nullopt, and
  // nothing is held, when there is no room for all of them.
  [[nodiscard]] std::optional<Lease> hold(std::span<const IpAddress> addresses);
  // The same for one, and for good.
  [[nodiscard]] std::optional<NextHopIndex> index_of(const IpAddress& address);
  // control, of a cell that is held
  void set(NextHopIndex index, NextHop next_hop) {
    cells_[index].store(pack(next_hop), std::memory_order_release);
  }
  // any thread
  [[nodiscard]] NextHop get(NextHopIndex index) const {
    return unpack(cells_[index].load(std::memory_order_acquire));
  }
  // worker: the packed cells, to be taken apart with the static functions below; nothing of them passes through memory.
  class View {
   public:
    [[nodiscard]] std::uint64_t word(NextHopIndex index) const {
      return cells_[index].load(std::memory_order_acquire);
    }

   private:
    friend class NextHops;
    explicit View(const std::atomic<std::uint64_t>* cells) : cells_(cells) {}
    const std::atomic<std::uint64_t>* cells_;
  };
  [[nodiscard]] View view() const { return View(cells_); }

  // Bits 0..47 MAC (byte 0 lowest, so that a little-endian store writes it in wire order), 48..55
  // port, 56..62 state, 63 behind_router.
  [[nodiscard]] static std::uint64_t pack(NextHop next_hop);
  [[nodiscard]] static NextHop unpack(std::uint64_t word);
  [[nodiscard]] static constexpr std::uint8_t port_of(std::uint64_t word) {
    return static_cast<std::uint8_t>(word >> 48);
  }
  [[nodiscard]] static constexpr NextHop::State state_of(std::uint64_t word) {
    return static_cast<NextHop::State>(word >> 56 & 0x7f);
  }
  [[nodiscard]] static constexpr bool behind_router(std::uint64_t word) { return word >> 63 != 0; }

 private:
  // Shared with the leases. Everything but the cells is read and written with the mutex held.
  struct Book {
    struct Holding {
      NextHopIndex index = 0;
      std::uint32_t holders = 0;
    };
    using Holdings = std::map<IpAddress, Holding>;

    std::unique_ptr<std::atomic<std::uint64_t>[]> cells;
    std::mutex mutex;
    Holdings held;
    std::vector<Holdings::iterator> at;  // by index; of one that is free: nothing
    std::vector<NextHopIndex> free;      // has room for all of `at`, so that letting go needs no memory

    [[nodiscard]] std::optional<NextHopIndex> hold(const IpAddress& address);
    void let_go(NextHopIndex index) noexcept;
  };

  std::shared_ptr<Book> book_;
  std::atomic<std::uint64_t>* cells_;
};

// For whoever keeps one, as SnapshotPool does.
using NextHopLease = NextHops::Lease;

}  // namespace guideway
