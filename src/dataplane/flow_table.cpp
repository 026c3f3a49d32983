#include "dataplane/flow_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace guideway {
namespace {

constexpr std::size_t sweep_buckets = 32;
constexpr std::size_t huge_page = std::size_t{2} << 20;

bool evictable(FlowClass flow_class) {
  return flow_class == FlowClass::fresh || flow_class == FlowClass::udp_fresh;
}

}  // namespace

FlowTable::FlowTable(std::size_t flows) : bucket_count_(std::bit_ceil(std::max<std::size_t>(flows, 64)) / 4) {
  // Zero pages are empty buckets. Page alignment makes pairs of buckets 128-byte aligned.
  void* memory = mmap(nullptr, memory_bytes(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // Fewer TLB misses where the kernel can; the table works without.
  if (memory_bytes() >= huge_page) madvise(memory, memory_bytes(), MADV_HUGEPAGE);
  buckets_ = static_cast<Bucket*>(memory);
}

FlowTable::~FlowTable() { munmap(static_cast<void*>(buckets_), memory_bytes()); }

void FlowTable::erase(Place place) {
  auto& mark = place.bucket->mark[place.slot];
  if ((mark.load(std::memory_order_relaxed) & spilled_bit) != 0) --other(*place.bucket).spilled;
  place.bucket->word[place.slot].store(0, std::memory_order_relaxed);
  mark.store(0, std::memory_order_relaxed);
  set_entries(entries() - 1);
}

FlowTable::Inserted FlowTable::insert(std::uint64_t hash, BackendId backend, FlowClass flow_class,
                                      std::uint32_t now_ms, std::uint32_t timeout_ms) {
  const std::uint64_t word = (hash & ~id_mask) | (~std::uint64_t{to_index(backend)} & id_mask);
  const std::uint32_t deadline = deadline_of(now_ms, timeout_ms);
  if (const Entry same = find_entry(hash, now_ms)) {
    same.bucket->word[same.slot].store(word, std::memory_order_relaxed);
    same.bucket->mark[same.slot].store(make_mark(flow_class, same.mark & spilled_bit, deadline),
                                       std::memory_order_relaxed);
    return Inserted::replaced;
  }

  Bucket& first = home(hash);
  Bucket& second = other(first);
  Place victim;  // the fresh entry that would end first
  std::int32_t victim_left = INT32_MAX;
  Place place;
  for (Bucket* bucket : {&first, &second}) {
    for (unsigned slot = 0; slot < bucket_slots && !place; ++slot) {
      const std::uint32_t mark = bucket->mark[slot].load(std::memory_order_relaxed);
      const bool empty = bucket->word[slot].load(std::memory_order_relaxed) == 0;
      const std::int32_t left = ticks_left(mark, now_ms);
      if (empty || left < 0) {
        place = {bucket, slot};
        if (!empty) erase(place);
      } else if (evictable(class_of(mark)) && left < victim_left) {
        victim = {bucket, slot};
        victim_left = left;
      }
    }
    if (place) break;
  }
  const bool evicts = !place;
  if (evicts) {
    if (!victim) return Inserted::full;
    place = victim;
    erase(place);
  }
  const std::uint32_t spilled = place.bucket == &second ? spilled_bit : 0;
  if (spilled != 0) ++first.spilled;
  // The mark first: a reader elsewhere that sees the word finds a mark that is not expired.
  place.bucket->mark[place.slot].store(make_mark(flow_class, spilled, deadline), std::memory_order_relaxed);
  place.bucket->word[place.slot].store(word, std::memory_order_release);
  set_entries(entries() + 1);
  return evicts ? Inserted::evicted : Inserted::created;
}

void FlowTable::sweep(std::uint32_t now_ms) {
  for (std::size_t n = 0; n < sweep_buckets; ++n) {
    Bucket& bucket = buckets_[sweep_at_];
    sweep_at_ = (sweep_at_ + 1) & (bucket_count_ - 1);
    for (unsigned slot = 0; slot < bucket_slots; ++slot) {
      if (bucket.word[slot].load(std::memory_order_relaxed) == 0) continue;
      if (expired(bucket.mark[slot].load(std::memory_order_relaxed), now_ms)) erase({&bucket, slot});
    }
  }
}

std::size_t FlowTable::erase_of(BackendId backend, std::size_t first, std::size_t count,
                                std::uint32_t now_ms) {
  const std::size_t end = std::min(first + count, bucket_count_);
  std::size_t live = 0;
  for (std::size_t i = first; i < end; ++i) {
    for (unsigned slot = 0; slot < bucket_slots; ++slot) {
      const std::uint64_t word = buckets_[i].word[slot].load(std::memory_order_relaxed);
      if (word == 0 || backend_in(word) != backend) continue;
      if (!expired(buckets_[i].mark[slot].load(std::memory_order_relaxed), now_ms)) ++live;
      erase({&buckets_[i], slot});
    }
  }
  return live;
}

std::optional<FlowTable::Sight> FlowTable::look_at(std::uint64_t hash, std::uint32_t now_ms) const {
  const Entry entry = find_from_elsewhere(hash, now_ms);
  return entry ? sight_of(*entry.bucket, entry.slot, now_ms) : std::nullopt;
}

FlowTable::Entry FlowTable::find_from_elsewhere(std::uint64_t hash, std::uint32_t now_ms) const {
  Bucket& bucket = home(hash);
  // `spilled` belongs to the writing worker, so a reader elsewhere looks into both buckets.
  if (const Entry entry = find_foreign(bucket, hash, 0, now_ms)) return entry;
  return find_foreign(other(bucket), hash, spilled_bit, now_ms);
}

BackendId FlowTable::find(std::uint64_t hash, std::uint32_t now_ms) const {
  const Entry entry = find_from_elsewhere(hash, now_ms);
  return entry ? entry.backend() : no_backend;
}

FlowTable::Count FlowTable::count(BackendId backend, std::uint32_t now_ms,
                                  std::uint32_t closing_timeout_ms) const {
  const auto quiet_left = (static_cast<std::int64_t>(closing_timeout_ms) - quiet_ms) >> tick_shift;
  Count flows;
  for (std::size_t i = 0; i < bucket_count_; ++i) {
    for (unsigned slot = 0; slot < bucket_slots; ++slot) {
      const std::uint64_t word = buckets_[i].word[slot].load(std::memory_order_relaxed);
      if (word == 0 || backend_in(word) != backend) continue;
      const std::uint32_t mark = buckets_[i].mark[slot].load(std::memory_order_relaxed);
      if (expired(mark, now_ms)) continue;
      const FlowClass flow_class = class_of(mark);
      const bool ends = flow_class == FlowClass::closing || flow_class == FlowClass::reset;
      ++(ends && ticks_left(mark, now_ms) < quiet_left ? flows.ending : flows.open);
    }
  }
  return flows;
}

}  // namespace guideway
