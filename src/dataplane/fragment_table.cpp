#include "dataplane/fragment_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "net/byte_order.h"

namespace guideway {
namespace {

// A packet that waited is dropped: it was counted as held when it came.
void drop(rte_mbuf* mbuf, VerdictCounters& counters) {
  counters.take_back(Verdict::held, mbuf->pkt_len);
  counters.count(Verdict::drop_fragment, mbuf->pkt_len);
  rte_pktmbuf_free(mbuf);
}

}  // namespace

FragmentTable::FragmentTable(std::uint64_t secret) : secret_(secret), datagrams_(datagrams_max) {
  for (std::size_t i = 0; i < held_max; ++i)
    held_[i].next = i + 1 < held_max ? static_cast<HeldIndex>(i + 1) : none;
}

FragmentTable::~FragmentTable() {
  for (const Queue& queue : {waiting_, ready_})
    for (HeldIndex at = queue.first; at != none; at = held_[at].newer) rte_pktmbuf_free(held_[at].mbuf);
}

// What IPv6 calls protocol may differ between the fragments of one datagram (RFC 8200, 4.5), so it counts for IPv4 alone.
std::uint64_t FragmentTable::key_of(const std::uint8_t* ip, const Packet& packet) const {
  std::array<std::uint8_t, 37> bytes;
  const std::size_t addresses = packet.family == Family::ipv4 ? 8 : 32;
  std::memcpy(bytes.data(), net::source_address(ip, packet.family), addresses);
  net::store(bytes.data() + addresses, packet.fragment_id);
  bytes[addresses + 4] = packet.family == Family::ipv4 ? packet.protocol : std::uint8_t{0};
  const std::uint64_t key = XXH3_64bits_withSeed(bytes.data(), addresses + 5, secret_);
  return key == 0 ? 1 : key;
}

std::uint64_t FragmentTable::pack(const Leader& leader) {
  return std::uint64_t{static_cast<std::uint8_t>(leader.fate)} << 60 | std::uint64_t{leader.protocol} << 52 |
         std::uint64_t{leader.source_port} << 36 | std::uint64_t{leader.destination_port} << 20 |
         to_index(leader.backend);
}

Leader FragmentTable::unpack(std::uint64_t word) {
  return {.fate = static_cast<Leader::Fate>(word >> 60),
          .protocol = static_cast<std::uint8_t>(word >> 52),
          .source_port = static_cast<std::uint16_t>(word >> 36),
          .destination_port = static_cast<std::uint16_t>(word >> 20),
          .backend = BackendId(word & (backend_ids_max - 1))};
}

void FragmentTable::push(Queue& queue, HeldIndex index) {
  held_[index].older = queue.last;
  held_[index].newer = none;
  (queue.last == none ? queue.first : held_[queue.last].newer) = index;
  queue.last = index;
}

void FragmentTable::unlink(Queue& queue, HeldIndex index) {
  const Held& held = held_[index];
  (held.older == none ? queue.first : held_[held.older].newer) = held.newer;
  (held.newer == none ? queue.last : held_[held.newer].older) = held.older;
}

void FragmentTable::give_back(HeldIndex index) {
  held_[index].next = free_;
  free_ = index;
}

void FragmentTable::drop_held_of(Datagram& datagram, VerdictCounters& counters) {
  for (HeldIndex at = datagram.first_held; at != none;) {
    const HeldIndex next = held_[at].next;
    drop(held_[at].mbuf, counters);
    unlink(waiting_, at);
    give_back(at);
    at = next;
  }
  datagram.first_held = datagram.last_held = none;
}

// The packet that has waited longest is the first of its datagram.
void FragmentTable::drop_oldest(VerdictCounters& counters) {
  const HeldIndex oldest = waiting_.first;
  Datagram& datagram = datagrams_[held_[oldest].datagram];
  datagram.first_held = held_[oldest].next;
  if (datagram.first_held == none) datagram.last_held = none;
  drop(held_[oldest].mbuf, counters);
  unlink(waiting_, oldest);
  give_back(oldest);
}

// Readers elsewhere see the key last, so never with the leader of another datagram.
void FragmentTable::begin(Datagram& datagram, std::uint64_t key, std::uint32_t now_ms,
                          VerdictCounters& counters) {
  drop_held_of(datagram, counters);
  datagram.key.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  datagram.leader.store(0, std::memory_order_relaxed);
  datagram.deadline_ms.store(now_ms + timeout_ms, std::memory_order_relaxed);
  datagram.end = 0;
  datagram.complete = false;
  datagram.ranges = {};
  datagram.key.store(key, std::memory_order_release);
}

DatagramIndex FragmentTable::find_or_make(std::uint64_t key, std::uint32_t now_ms,
                                          VerdictCounters& counters) {
  const std::size_t set = set_of(key);
  std::size_t victim = set;
  std::int32_t victim_left = INT32_MAX;
  for (std::size_t i = set; i < set + ways; ++i) {
    Datagram& datagram = datagrams_[i];
    const std::uint64_t there = datagram.key.load(std::memory_order_relaxed);
    const std::uint32_t deadline = datagram.deadline_ms.load(std::memory_order_relaxed);
    const bool ended = there == 0 || passed(deadline, now_ms);
    if (there == key && !ended) return static_cast<DatagramIndex>(i);
    const std::int32_t left = ended ? -1 : static_cast<std::int32_t>(deadline - now_ms);
    if (left >= victim_left) continue;
    victim = i;
    victim_left = left;
  }
  begin(datagrams_[victim], key, now_ms, counters);
  return static_cast<DatagramIndex>(victim);
}

ByteRanges::Added FragmentTable::add(DatagramIndex index, const Packet& packet, std::uint32_t now_ms,
                                     VerdictCounters& counters) {
  Datagram& datagram = datagrams_[index];
  // A whole datagram has gone through under this id; this is the next one.
  if (datagram.complete && leader(index).fate != Leader::Fate::unknown)
    begin(datagram, datagram.key.load(std::memory_order_relaxed), now_ms, counters);
  const auto from = packet.fragment_offset;
  const auto to = static_cast<std::uint16_t>(from + packet.fragment_length());
  using Added = ByteRanges::Added;
  Added added = datagram.ranges.add(from, to);
  const bool beyond_end =
      datagram.end != 0 && (to > datagram.end || (!packet.more_fragments && to != datagram.end));
  const bool cuts_off = !packet.more_fragments && datagram.ranges.end() > to;
  if (added == Added::fresh && (beyond_end || cuts_off)) added = Added::overlap;
  if (added == Added::overlap) decide(index, {.fate = Leader::Fate::dropped}, counters);
  if (added != Added::fresh) return added;
  if (!packet.more_fragments) datagram.end = to;
  datagram.complete = datagram.end != 0 && datagram.ranges.is_exactly(datagram.end);
  return added;
}

bool FragmentTable::hold(DatagramIndex index, rte_mbuf* mbuf, std::uint8_t port, std::uint32_t now_ms,
                         VerdictCounters& counters) {
  if (free_ == none && waiting_.first == none) return false;
  if (free_ == none) drop_oldest(counters);
  const HeldIndex at = free_;
  Held& held = held_[at];
  free_ = held.next;
  held.mbuf = mbuf;
  held.deadline_ms = now_ms + timeout_ms;
  held.datagram = index;
  held.next = none;
  held.port = port;
  push(waiting_, at);
  Datagram& datagram = datagrams_[index];
  (datagram.last_held == none ? datagram.first_held : held_[datagram.last_held].next) = at;
  datagram.last_held = at;
  return true;
}

void FragmentTable::decide(DatagramIndex index, const Leader& leader, VerdictCounters& counters) {
  Datagram& datagram = datagrams_[index];
  // What was ended by an overlap stays so.
  if (this->leader(index).fate == Leader::Fate::dropped) return;
  datagram.leader.store(pack(leader), std::memory_order_release);
  if (leader.fate == Leader::Fate::dropped) return drop_held_of(datagram, counters);
  for (HeldIndex at = datagram.first_held; at != none; at = held_[at].next) {
    unlink(waiting_, at);
    push(ready_, at);
  }
  datagram.first_held = datagram.last_held = none;
}

std::uint16_t FragmentTable::take_ready(std::span<rte_mbuf*> to, std::uint8_t& port,
                                        VerdictCounters& counters) {
  std::uint16_t count = 0;
  for (HeldIndex at = ready_.first; at != none && count < to.size(); at = ready_.first) {
    const Held& held = held_[at];
    if (count == 0) port = held.port;
    if (held.port != port) break;
    counters.take_back(Verdict::held, held.mbuf->pkt_len);
    to[count++] = held.mbuf;
    unlink(ready_, at);
    give_back(at);
  }
  return count;
}

void FragmentTable::expire(std::uint32_t now_ms, VerdictCounters& counters) {
  while (waiting_.first != none && passed(held_[waiting_.first].deadline_ms, now_ms)) drop_oldest(counters);
}

void FragmentTable::clear(VerdictCounters& counters) {
  while (waiting_.first != none) drop_oldest(counters);
  for (HeldIndex at = ready_.first; at != none; at = ready_.first) {
    drop(held_[at].mbuf, counters);
    unlink(ready_, at);
    give_back(at);
  }
}

std::optional<Leader> FragmentTable::leader_of(std::uint64_t key, std::uint32_t now_ms) const {
  const std::size_t set = set_of(key);
  for (std::size_t i = set; i < set + ways; ++i) {
    const Datagram& datagram = datagrams_[i];
    if (datagram.key.load(std::memory_order_acquire) != key) continue;
    const std::uint64_t word = datagram.leader.load(std::memory_order_relaxed);
    const std::uint32_t deadline = datagram.deadline_ms.load(std::memory_order_relaxed);
    // Its worker clears the key before it gives the place to another datagram.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (datagram.key.load(std::memory_order_relaxed) != key || passed(deadline, now_ms)) continue;
    const Leader leader = unpack(word);
    if (leader.fate != Leader::Fate::unknown) return leader;
  }
  return std::nullopt;
}

}  // namespace guideway
