// Flow table: which backend a flow was given to.
// What: fixed memory, 16 bytes a flow of its nominal size; keyed by the 64-bit flow hash.
// Why:  a bucket is one cache line with five entries (an entry takes 12 bytes), so a look-up costs one miss,
//       hidden by a prefetch; a full bucket spills into the other line of its 128-byte pair, which the
//       hardware brings along. Rivals: rte_hash (two buckets and a key store: three misses, 45 ns at 1M
//       flows); cuckoo moves entries, so that a reader on another core sees them twice or not at all.
// Cost: one cache line read a look-up; written back about once a second for a flow that goes on, as a renewal puts
//       the deadline a little further off than it must (a second, or an eighth of a short timeout).
// Not:  whether the backend still serves; the caller asks the snapshot.
// Thread: one worker writes; any thread may read through `find` and `count` (relaxed atomics; a reader sees a
//         flow's word whole or not at all).
//
// An entry's word: tag (hash bits 63..20) | complement of the backend id (20 bits); 0 is empty, as no_backend
// is never stored. Its mark: class (3 bits) | spilled (1) | deadline (28, in 16 ms, modulo 2^28 = 49 days).
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/tag_match.h"
#include "snapshot/ids.h"

namespace guideway {

enum class FlowClass : std::uint8_t {
  none = 0,
  fresh,        // TCP, only SYNs so far: may be evicted by another fresh one
  established,  // TCP
  closing,      // TCP, a FIN was seen
  reset,        // TCP, a RST was seen; a later plain packet shows that the flow lives on
  udp_fresh,    // one packet so far: may be evicted
  udp,
};

class FlowTable {
 public:
  struct alignas(64) Bucket {
    BucketWords word;  // first, for match_tags
    std::array<std::atomic<std::uint32_t>, bucket_slots> mark;
    std::uint32_t spilled;  // entries that belong here and live in the other bucket of the pair
  };
  static_assert(sizeof(Bucket) == 64, "a bucket is a cache line");

  struct Place {
    Bucket* bucket = nullptr;
    unsigned slot = 0;
    explicit operator bool() const { return bucket != nullptr; }
  };
  // A place and what was found there; valid until the next insert, erase or sweep.
  struct Entry : Place {
    std::uint32_t mark = 0;
    std::uint64_t word = 0;
    [[nodiscard]] BackendId backend() const { return backend_in(word); }
    [[nodiscard]] FlowClass flow_class() const { return class_of(mark); }
  };

  // Room for `flows` flows at 16 bytes each, rounded up to a power of two, at least 64. Throws std::bad_alloc
  // at the start when the memory cannot be reserved; pages are touched as they are used.
  explicit FlowTable(std::size_t flows);
  ~FlowTable();
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;

  // worker
  static Entry entry_at(Place place) {
    return {place, place.bucket->mark[place.slot].load(std::memory_order_relaxed),
            place.bucket->word[place.slot].load(std::memory_order_relaxed)};
  }
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&home(hash)); }
  // The live entry of this hash.
  [[nodiscard, gnu::always_inline]] Entry find_entry(std::uint64_t hash, std::uint32_t now_ms) const {
    Bucket& bucket = home(hash);
    if (const Entry entry = find_own(bucket, hash, 0, now_ms)) return entry;
    if (bucket.spilled == 0) [[likely]]
      return {};
    return find_own(other(bucket), hash, spilled_bit, now_ms);
  }
  // `visit(n, entry)` for the live entry of hash[n], where there is one, for every n whose bit is set in `wanted`; up to
  // 32. What `visit` does to its entry is seen by the next. A flow that lives in its bucket's fellow comes behind all
  // others, so that what the fellow takes from memory is hidden as well.
  template <class Visit>
  [[gnu::always_inline]] void visit_entries(std::span<const std::uint64_t> hash, std::uint32_t wanted,
                                            std::uint32_t now_ms, const Visit& visit) const {
    // In registers: what `visit` writes could be members, for all that is known.
    Bucket* const buckets = buckets_;
    const std::size_t last = bucket_count_ - 1;
    std::uint32_t elsewhere = 0;
    for (; wanted != 0; wanted &= wanted - 1) {
      const auto n = static_cast<std::size_t>(std::countr_zero(wanted));
      Bucket& bucket = buckets[hash[n] & last];
      if (const Entry entry = find_own(bucket, hash[n], 0, now_ms)) [[likely]] {
        visit(n, entry);
      } else if (bucket.spilled != 0) {
        __builtin_prefetch(&other(bucket));
        elsewhere |= 1U << n;
      }
    }
    for (; elsewhere != 0; elsewhere &= elsewhere - 1) {
      const auto n = static_cast<std::size_t>(std::countr_zero(elsewhere));
      if (const Entry entry = find_own(other(home(hash[n])), hash[n], spilled_bit, now_ms)) visit(n, entry);
    }
  }
  // Of an entry that is in use now: its class from here on, and when it shall end: never before `timeout_ms` from now, and
  // at most a slack later, which a flow that goes on is given so that not every packet writes.
  class Renewal {
   public:
    Renewal(FlowClass flow_class, std::uint32_t now_ms, std::uint32_t timeout_ms)
        : earliest_(make_mark(flow_class, 0, deadline_of(now_ms, timeout_ms))),
          slack_(goes_on(flow_class) ? slack_of(timeout_ms) : 0) {}
    // Whether it is so already. (The bit between class and deadline keeps deadlines that wrapped around away from the
    // class.)
    [[nodiscard, gnu::always_inline]] bool holds(const Entry& entry) const {
      return (((entry.mark | spilled_bit) - earliest_) & ~spilled_bit) <= slack_;
    }
    [[nodiscard]] std::uint32_t mark_for(const Entry& entry) const {
      return make_mark(class_of(earliest_), entry.mark & spilled_bit, (earliest_ + slack_) & deadline_mask);
    }

   private:
    static bool goes_on(FlowClass flow_class) {
      return flow_class == FlowClass::established || flow_class == FlowClass::udp;
    }
    std::uint32_t earliest_;  // as a mark
    std::uint32_t slack_;     // in ticks
  };
  static void touch(const Entry& entry, const Renewal& renewal) {
    if (renewal.holds(entry)) return;
    entry.bucket->mark[entry.slot].store(renewal.mark_for(entry), std::memory_order_relaxed);
  }
  void erase(Place place);  // of an entry that is there

  enum class Inserted : std::uint8_t { created, replaced, evicted, full };
  // A new entry: in place of one of the same hash, else in an empty or expired place, else in that of the
  // fresh entry that would end first; else `full`, and nothing changes. Fresh is what may be evicted.
  Inserted insert(std::uint64_t hash, BackendId backend, FlowClass flow_class, std::uint32_t now_ms,
                  std::uint32_t timeout_ms);
  // Removes the expired entries of the next few buckets.
  void sweep(std::uint32_t now_ms);
  // Removes the backend's entries from the buckets `first` to `first + count`, as far as there are any; answers how
  // many live ones.
  std::size_t erase_of(BackendId backend, std::size_t first, std::size_t count, std::uint32_t now_ms);

  // any thread: the backend of a live flow; no_backend where there is none.
  [[nodiscard]] BackendId find(std::uint64_t hash, std::uint32_t now_ms) const;
  // any thread: live flows of one backend. `closing_timeout_ms`: what those after a FIN or RST were given. Reads the
  // whole table, so it is for control.
  struct Count {
    std::size_t open = 0;    // half closed ones that still carry packets are open, too
    std::size_t ending = 0;  // a FIN or RST was seen, and nothing for `quiet_ms` since
    [[nodiscard]] std::size_t all() const { return open + ending; }
  };
  static constexpr std::uint32_t quiet_ms = 3000;
  [[nodiscard]] Count count(BackendId backend, std::uint32_t now_ms, std::uint32_t closing_timeout_ms) const;
  // any thread: a live entry as it is seen from elsewhere.
  struct Sight {
    BackendId backend;
    FlowClass flow_class;
    std::uint32_t left_ms;  // until it ends by itself
  };
  [[nodiscard]] std::optional<Sight> look_at(std::uint64_t hash, std::uint32_t now_ms) const;
  // any thread: `visit(sight)` for every live entry. Reads the whole table, so it is for control.
  template <class Visit>
  void for_each(std::uint32_t now_ms, Visit visit) const {
    for (std::size_t i = 0; i < bucket_count_; ++i)
      for (unsigned slot = 0; slot < bucket_slots; ++slot)
        if (const auto sight = sight_of(buckets_[i], slot, now_ms)) visit(*sight);
  }
  [[nodiscard]] std::size_t buckets() const { return bucket_count_; }
  [[nodiscard]] std::size_t bucket_of(Entry entry) const {
    return static_cast<std::size_t>(entry.bucket - buckets_);
  }
  [[nodiscard]] std::size_t memory_bytes() const { return bucket_count_ * sizeof(Bucket); }
  [[nodiscard]] std::size_t capacity() const { return bucket_count_ * 4; }  // nominal flows
  // any thread: entries, also those that have expired and that the sweep has not found yet.
  [[nodiscard]] std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }

  // Timeouts beyond this are cut to it.
  static constexpr std::uint32_t timeout_ms_max = 20U * 24 * 3600 * 1000;

 private:
  static constexpr std::uint64_t id_mask = backend_ids_max - 1;
  static_assert(id_mask >> tag_shift == 0 && std::has_single_bit(id_mask + 1) &&
                (id_mask + 1) >> tag_shift == 1);
  static constexpr std::uint32_t deadline_mask = (1U << 28) - 1;
  static constexpr std::uint32_t spilled_bit = 1U << 28;
  static constexpr unsigned class_shift = 29;
  static constexpr unsigned tick_shift = 4;                // 16 ms
  static constexpr std::uint32_t deadline_slack_max = 64;  // a second

  static BackendId backend_in(std::uint64_t word) { return BackendId(~word & id_mask); }
  static FlowClass class_of(std::uint32_t mark) { return static_cast<FlowClass>(mark >> class_shift); }
  static std::uint32_t deadline_of(std::uint32_t now_ms, std::uint32_t timeout_ms) {
    const std::uint32_t timeout = timeout_ms < timeout_ms_max ? timeout_ms : timeout_ms_max;
    return ((now_ms >> tick_shift) + (timeout >> tick_shift) + 1) & deadline_mask;
  }
  // In ticks. Short timeouts have a short one, below 128 ms none.
  static std::uint32_t slack_of(std::uint32_t timeout_ms) {
    const std::uint32_t eighth = timeout_ms >> (tick_shift + 3);
    return eighth < deadline_slack_max ? eighth : deadline_slack_max;
  }
  static std::uint32_t make_mark(FlowClass flow_class, std::uint32_t spilled, std::uint32_t deadline) {
    return std::uint32_t{static_cast<std::uint8_t>(flow_class)} << class_shift | spilled | deadline;
  }
  // Ticks until the deadline; negative once it has passed.
  static std::int32_t ticks_left(std::uint32_t mark, std::uint32_t now_ms) {
    return static_cast<std::int32_t>((mark - (now_ms >> tick_shift)) << 4) >> 4;
  }
  // The sign of ticks_left.
  static std::uint32_t expired_bit(std::uint32_t mark, std::uint32_t now_ms) {
    return (mark - (now_ms >> tick_shift)) & (deadline_mask + 1) / 2;
  }
  static bool expired(std::uint32_t mark, std::uint32_t now_ms) { return expired_bit(mark, now_ms) != 0; }

  static std::optional<Sight> sight_of(const Bucket& bucket, unsigned slot, std::uint32_t now_ms) {
    const std::uint64_t word = bucket.word[slot].load(std::memory_order_relaxed);
    const std::uint32_t mark = bucket.mark[slot].load(std::memory_order_relaxed);
    if (word == 0 || expired(mark, now_ms)) return std::nullopt;
    return Sight{backend_in(word), class_of(mark),
                 static_cast<std::uint32_t>(ticks_left(mark, now_ms)) << tick_shift};
  }
  Bucket& home(std::uint64_t hash) const { return buckets_[hash & (bucket_count_ - 1)]; }
  Bucket& other(Bucket& bucket) const { return buckets_[static_cast<std::size_t>(&bucket - buckets_) ^ 1U]; }
  [[nodiscard]] Entry find_from_elsewhere(std::uint64_t hash, std::uint32_t now_ms) const;
  // The live one of the entries at `slots` (a bit each) that is spilled as wanted.
  [[gnu::always_inline]] static Entry live_one(Bucket& bucket, unsigned slots, std::uint32_t spilled,
                                               std::uint32_t now_ms) {
    for (; slots != 0; slots &= slots - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(slots));
      const std::uint32_t mark = bucket.mark[slot].load(std::memory_order_relaxed);
      if ((((mark ^ spilled) & spilled_bit) | expired_bit(mark, now_ms)) != 0) [[unlikely]]
        continue;
      const std::uint64_t word = bucket.word[slot].load(std::memory_order_relaxed);
      if (word != 0) [[likely]]
        return {{&bucket, slot}, mark, word};
    }
    return {};
  }
  // By the worker, and by whoever else.
  [[gnu::always_inline]] static Entry find_own(Bucket& bucket, std::uint64_t hash, std::uint32_t spilled,
                                               std::uint32_t now_ms) {
    return live_one(bucket, match_tags(bucket.word, hash), spilled, now_ms);
  }
  static Entry find_foreign(Bucket& bucket, std::uint64_t hash, std::uint32_t spilled, std::uint32_t now_ms) {
    const Entry entry = live_one(bucket, match_tags_plain(bucket.word, hash), spilled, now_ms);
    // The owner may have given the place to another flow since its tag was compared.
    return entry && (entry.word ^ hash) >> tag_shift == 0 ? entry : Entry{};
  }

  void set_entries(std::size_t entries) { entries_.store(entries, std::memory_order_relaxed); }

  Bucket* buckets_ = nullptr;
  std::size_t bucket_count_ = 0;  // a power of two, at least 16
  std::size_t sweep_at_ = 0;
  std::atomic<std::size_t> entries_ = 0;
};

}  // namespace guideway
