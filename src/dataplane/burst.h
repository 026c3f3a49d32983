// Burst: up to 32 packets on their way through the stages.
// What: parallel arrays, one place a packet; each array says which stage writes it, later stages read it.
// Why:  a stage is one function over a burst, so that its first loop prefetches what its second one needs.
// Cost: a few kilobytes that stay in L1; one Burst a worker, used again and again.
// Thread: one worker.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/key_bytes.h"
#include "net/packet.h"
#include "snapshot/snapshot.h"
#include "snapshot/verdict.h"

namespace guideway {

inline constexpr std::size_t burst_max = 32;

// Where a packet is sent: hop 0 is the frame's destination, the further ones stand in the GUE hop list.
struct HopList {
  std::array<MemberIndex, 3> slot;  // of the pool's backends
  std::uint8_t count;
};

struct Burst {
  // The caller fills these, and nothing else, before Pipeline::run.
  std::uint16_t size = 0;
  std::uint8_t port = 0;        // ingress, index into the PortTable
  std::uint32_t truncated = 0;  // bit i: the source holds less of packet i than was on the wire
  std::array<rte_mbuf*, burst_max> packets;

  // parse
  std::array<Verdict, burst_max> verdict;      // `forward` until a stage decides otherwise
  std::array<std::uint32_t, burst_max> bytes;  // of the frame as it came in
  std::array<Packet, burst_max> parsed;        // `kind` is `other` where no IP packet was found
  std::array<KeyBytes, burst_max> key;
  // find_service
  std::array<const SnapshotService*, burst_max> service;
  std::array<const SnapshotPool*, burst_max> pool;
  std::uint32_t quoted = 0;  // bit i: an ICMP error; `key` is that of the flow it quotes
  std::array<std::uint16_t, burst_max> answer_mtu;  // with Verdict::answer: 0 answers an echo, else too big

  // hash_flows
  std::array<std::uint64_t, burst_max> hash;  // flow hash
  std::array<const Row*, burst_max> row;
  // lookup_flows
  std::array<MemberIndex, burst_max> tracked;  // slot that a flow-table entry names, else no_member
  // choose_backend
  std::array<HopList, burst_max> hops;
  std::uint32_t new_flow = 0;  // bit i: the first packet of a flow, as far as this worker knows
  std::uint32_t to_learn = 0;  // bit i: makes an entry in the flow table, once it is sure to be forwarded
  // encapsulate
  std::array<std::uint8_t, burst_max> egress;  // index into the PortTable
};

}  // namespace guideway
