// Snapshot: one version of everything that the workers need to forward, immutable once published.
// What: services, pools, rows, backends and what their outer headers need.
// Why:  built aside, published by one pointer, freed after quiescence; nobody edits a live table.
// Cost: pools that did not change are shared between snapshots.
// Not:  next hops' MACs (next_hops.h), counters (counters.h), names beyond what messages need.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guideway/address.h"
#include "guideway/flow.h"
#include "snapshot/encapsulation.h"
#include "snapshot/ids.h"
#include "snapshot/next_hops.h"
#include "snapshot/row_table.h"
#include "snapshot/service_table.h"

namespace guideway {

enum class TooBig : std::uint8_t { fragment, drop };  // IPv4 without DF beyond the egress MTU
enum class OnDown : std::uint8_t { keep, move };      // TCP flows on a backend that is down

// Milliseconds; design section 5.
struct FlowTimeouts {
  std::uint32_t fresh_ms = 10'000;
  std::uint32_t established_ms = 900'000;
  std::uint32_t closing_ms = 60'000;
  std::uint32_t udp_ms = 60'000;
  friend bool operator==(const FlowTimeouts&, const FlowTimeouts&) = default;
};

// A backend in its slot (= MemberIndex of the pool's seating).
struct SnapshotBackend {
  IpAddress address;
  BackendId id{};
  NextHopIndex next_hop = 0;
  bool keeps_tcp = true, keeps_udp = true;  // see BackendPlace
};

struct SnapshotPool {
  std::string name;
  PoolId id{};
  std::uint64_t seed = 0;
  Affinity affinity = Affinity::flow;
  Encapsulation encapsulation = Encapsulation::gue;
  std::uint32_t hops = 3;
  std::uint16_t gue_port = 19523;  // host order
  bool udp_checksum = false;       // computed over the whole packet; else 0 (RFC 6935, 6936)
  bool copy_tos = true;
  bool flow_table = true;
  TooBig too_big = TooBig::fragment;
  FlowTimeouts timeouts;
  IpAddress outer_source;  // of the backends' family
  // IPIP and GRE over IPv4 have nothing else that differs between flows: these low bits of the source address, which
  // are 0 in outer_source, come from the flow hash. Host order.
  std::uint32_t outer_source_spread = 0;
  RowTable rows;                          // [M]
  std::vector<SnapshotBackend> backends;  // all of one address family
  std::shared_ptr<const NextHopLease>
      next_hops;  // of the backends: their cells are theirs as long as this lives
};

enum class Ping : std::uint8_t { answer, forward, kernel };
enum class Unmatched : std::uint8_t { kernel, drop };

// For control; what the workers need of a service stands in the ServiceTable.
struct SnapshotService {
  std::string name;
  ServiceId id{};
  const SnapshotPool* pool = nullptr;  // owned by Snapshot::pools
};

enum class FlowKind : std::uint8_t { tcp, udp };

// Where a backend id stands now; an id that no pool holds has pool == nullptr.
struct BackendPlace {
  const SnapshotPool* pool = nullptr;
  MemberIndex slot = no_member;
  // By FlowKind. Its established TCP flows go on (not disabled; not down with on_down = "move"); its UDP flows do (takes
  // new ones, or draining and not down).
  std::array<bool, 2> keeps{true, true};
};

struct Snapshot {
  Epoch epoch{};
  std::vector<std::shared_ptr<const SnapshotPool>> pools;
  std::bitset<0x10000> gue_ports;  // of all pools
  std::vector<SnapshotService> services;
  ServiceTable lookup;                 // packet's destination -> ServiceId, and index into pools
  std::vector<BackendPlace> backends;  // by BackendId; ids beyond the end are gone

  // control, before it is published
  void add_pool(std::shared_ptr<const SnapshotPool> pool) {
    gue_ports.set(pool->gue_port);
    for (std::size_t slot = 0; slot < pool->backends.size(); ++slot) {
      const SnapshotBackend& backend = pool->backends[slot];
      const std::size_t id = to_index(backend.id);
      if (id >= backends.size()) backends.resize(id + 1);
      backends[id] = {pool.get(), static_cast<MemberIndex>(slot), {backend.keeps_tcp, backend.keeps_udp}};
    }
    pools.push_back(std::move(pool));
  }
};

}  // namespace guideway
