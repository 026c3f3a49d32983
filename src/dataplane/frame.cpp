#include "dataplane/frame.h"

#include <algorithm>

namespace guideway {
namespace {

bool writable(const rte_mbuf& mbuf) { return RTE_MBUF_DIRECT(&mbuf) && rte_mbuf_refcnt_read(&mbuf) == 1; }

// Cuts the packet to `length` bytes, whichever segments they lie in.
void trim_to(rte_mbuf& mbuf, std::size_t length) {
  mbuf.pkt_len = static_cast<std::uint32_t>(length);
  rte_mbuf* segment = &mbuf;
  std::uint16_t segments = 1;
  for (; length > segment->data_len && segment->next != nullptr; segment = segment->next, ++segments)
    length -= segment->data_len;
  segment->data_len = static_cast<std::uint16_t>(length);
  if (segment->next != nullptr) {
    rte_pktmbuf_free(segment->next);
    segment->next = nullptr;
  }
  mbuf.nb_segs = segments;
}

// Moves bytes of the further segments to the end of the first one, which has the room, until it holds `size`.
void pull_up(rte_mbuf& mbuf, std::size_t size) {
  while (mbuf.data_len < size) {
    rte_mbuf& next = *mbuf.next;
    const auto moved = static_cast<std::uint16_t>(std::min<std::size_t>(size - mbuf.data_len, next.data_len));
    std::memcpy(rte_pktmbuf_mtod_offset(&mbuf, std::uint8_t*, mbuf.data_len),
                rte_pktmbuf_mtod(&next, const std::uint8_t*), moved);
    mbuf.data_len = static_cast<std::uint16_t>(mbuf.data_len + moved);
    next.data_off = static_cast<std::uint16_t>(next.data_off + moved);
    next.data_len = static_cast<std::uint16_t>(next.data_len - moved);
    if (next.data_len != 0) continue;
    mbuf.next = next.next;
    --mbuf.nb_segs;
    rte_pktmbuf_free_seg(&next);
  }
}

std::uint8_t* prepend(rte_mbuf& mbuf, std::size_t headers) {
  clear_offloads(mbuf);
  return reinterpret_cast<std::uint8_t*>(rte_pktmbuf_prepend(&mbuf, static_cast<std::uint16_t>(headers)));
}

}  // namespace

bool gather(rte_mbuf*& mbuf, std::size_t size, rte_mempool* mbufs) {
  size = std::min<std::size_t>(size, mbuf->pkt_len);
  if (size <= mbuf->data_len) return true;
  if (writable(*mbuf) && size <= std::size_t{mbuf->data_len} + rte_pktmbuf_tailroom(mbuf)) {
    pull_up(*mbuf, size);
    return true;
  }
  // A copy fills each of its segments before it takes another.
  rte_mbuf* copy = mbufs == nullptr ? nullptr : rte_pktmbuf_copy(mbuf, mbufs, 0, UINT32_MAX);
  if (copy == nullptr) return false;
  if (copy->data_len < size) {
    rte_pktmbuf_free(copy);
    return false;
  }
  rte_pktmbuf_free(mbuf);
  mbuf = copy;
  return true;
}

std::uint8_t* reframe(rte_mbuf*& mbuf, const Packet& packet, std::size_t headers, rte_mempool* mbufs) {
  if (writable(*mbuf) && rte_pktmbuf_headroom(mbuf) + std::size_t{packet.ip_offset} >= headers) [[likely]] {
    rte_pktmbuf_adj(mbuf, packet.ip_offset);
    trim_to(*mbuf, packet.ip_length);
    return prepend(*mbuf, headers);
  }
  if (mbufs == nullptr) return nullptr;
  rte_mbuf* copy = rte_pktmbuf_copy(mbuf, mbufs, packet.ip_offset, packet.ip_length);
  if (copy == nullptr) return nullptr;
  if (rte_pktmbuf_headroom(copy) < headers) {
    rte_pktmbuf_free(copy);
    return nullptr;
  }
  rte_pktmbuf_free(mbuf);
  mbuf = copy;
  return prepend(*mbuf, headers);
}

net::ChecksumSum sum_of(const rte_mbuf& mbuf, std::size_t offset) {
  net::ChecksumSum sum;
  bool odd = false;  // the bytes so far: what follows stands in the other half of its words
  for (const rte_mbuf* segment = &mbuf; segment != nullptr; segment = segment->next) {
    const std::size_t skipped = std::min<std::size_t>(offset, segment->data_len);
    offset -= skipped;
    const std::span bytes(rte_pktmbuf_mtod_offset(segment, const std::uint8_t*, skipped),
                          segment->data_len - skipped);
    const std::uint16_t part = net::ChecksumSum{}.add(bytes).folded();
    sum.add(odd ? net::swap16(part) : part);
    odd ^= bytes.size() % 2 != 0;
  }
  return sum;
}

}  // namespace guideway
