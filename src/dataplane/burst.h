// Burst: up to 32 packets on their way through the stages.
// What: parallel arrays, one place a packet; each array says which stage writes it, later stages read it.
// Why:  a stage is one function over a burst, so that its first loop prefetches what its second one needs.
// Cost: a few kilobytes that stay in L1; one Burst a worker, used again and again.
// Thread: one worker.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "dataplane/fragment_table.h"
#include "dataplane/key_bytes.h"
#include "net/packet.h"
#include "snapshot/snapshot.h"
#include "snapshot/verdict.h"

namespace guideway {

inline constexpr std::size_t burst_max = 32;
// Frames that a burst makes on top of one a packet: pieces of packets that were too big.
inline constexpr std::size_t further_max = 224;

// Where a packet is sent: hop 0 is the frame's destination, the further ones stand in the GUE hop list.
// In one word, so that it is put together, stored and read at once.
class HopList {
 public:
  HopList() = default;
  // no_member stands only behind the last; `count` of them are there.
  HopList(MemberIndex first, MemberIndex second, MemberIndex third, std::size_t count)
      : word_(std::uint64_t{first} | std::uint64_t{second} << 16 | std::uint64_t{third} << 32 |
              static_cast<std::uint64_t>(count) << 48) {}
  explicit HopList(const Row& row) : word_(std::bit_cast<std::uint64_t>(row) & slots) {
    // no_member is all ones: the highest bit that is 0 lies in the last hop.
    static_assert(no_member == 0xffff);
    const std::uint64_t used = (~word_ & slots) << 1 | 1;
    const auto highest = static_cast<std::uint64_t>(63 ^ std::countl_zero(used));
    word_ |= (highest + 15) << (48 - 4) & ~slots;
  }

  // Index into the pool's backends, n from 0 to 2; no_member behind the last.
  [[nodiscard]] MemberIndex slot(std::size_t n) const { return static_cast<MemberIndex>(word_ >> (16 * n)); }
  [[nodiscard]] std::size_t count() const { return word_ >> 48; }

 private:
  static constexpr std::uint64_t slots = 0xffff'ffff'ffff;
  std::uint64_t word_ = 0;
};

struct Burst {
  // The caller fills these, and nothing else, before Pipeline::run.
  std::uint16_t size = 0;
  std::uint8_t port = 0;        // ingress, index into the PortTable
  std::uint32_t truncated = 0;  // bit i: the source holds less of packet i than was on the wire
  bool readmitted = false;      // packets that were held; they were counted when they came in
  std::array<rte_mbuf*, burst_max> packets;

  // parse
  std::array<Verdict, burst_max> verdict;      // `forward` until a stage decides otherwise
  std::array<std::uint32_t, burst_max> bytes;  // of the frame as it came in
  std::array<Packet, burst_max> parsed;        // `kind` is `other` where no IP packet was found
  std::array<KeyBytes, burst_max> key;
  std::uint64_t bytes_in = 0;   // sum of `bytes`
  std::uint32_t fragments = 0;  // bit i: a part of a fragmented datagram
  std::uint32_t icmp = 0;       // bit i: an ICMP message, which is of no flow of its own
  // follow_fragments, for those of `fragments`
  std::array<DatagramIndex, burst_max> datagram;  // of a first fragment, else no_datagram
  std::array<BackendId, burst_max> leader;        // where a later fragment's first one went, else no_backend
  // find_service
  std::array<ServiceId, burst_max> service;         // no_service: not to a service's address
  std::array<const SnapshotPool*, burst_max> pool;  // likewise nullptr
  std::uint32_t quoted = 0;  // bit i: an ICMP error; `key` is that of the flow it quotes
  std::array<std::uint16_t, burst_max> answer_mtu;  // with Verdict::answer: 0 answers an echo, else too big

  // hash_flows
  std::array<std::uint64_t, burst_max> hash;  // flow hash
  std::array<const Row*, burst_max> row;
  std::uint32_t may_be_known = 0;  // bit i: of a pool with a flow table, which may know the flow
  // lookup_flows
  std::array<MemberIndex, burst_max>
      tracked;  // slot that a flow-table entry or the leader names, else no_member
  // choose_backend, of packets that are forwarded
  std::array<HopList, burst_max> hops;
  std::uint32_t new_flow = 0;  // bit i: the first packet of a flow, as far as this worker knows
  std::uint32_t strange = 0;   // bit i: of a TCP connection whose beginning this worker did not see
  std::uint32_t to_learn = 0;  // bit i: makes an entry in the flow table, once it is sure to be forwarded
  // encapsulate
  std::array<std::uint8_t, burst_max> egress;  // index into the PortTable
  std::uint32_t egress_ports = 0;              // bit p: some packet's is p
  // Further pieces of packets whose first piece is in `packets`; piece n was made from packet further_origin[n]. They lie
  // in the order of their packets, which all stay `forward`.
  std::uint16_t further_count = 0;
  std::array<rte_mbuf*, further_max> further;
  std::array<std::uint8_t, further_max> further_origin;

  [[nodiscard]] bool has_room_for(std::size_t pieces) const { return further_count + pieces <= further_max; }
  void add_further(std::size_t i, rte_mbuf* piece) {
    further[further_count] = piece;
    further_origin[further_count++] = static_cast<std::uint8_t>(i);
  }
};

}  // namespace guideway
