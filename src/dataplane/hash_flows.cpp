#define XXH_INLINE_ALL
#include <rte_prefetch.h>
#include <xxhash.h>

#include "dataplane/stages.h"
#include "net/byte_order.h"

namespace guideway::stages {
namespace {

// The sizes are constants where XXH3 is inlined, so that only its branch for them remains.
template <Family family>
constexpr std::size_t key_size = key_addresses_size(family) + 5;

template <Family family>
std::uint64_t hash_key(const KeyBytes& key, std::uint64_t seed) {
  return XXH3_64bits_withSeed(key.bytes.data(), key_size<family>, seed);
}

template <Family family>
std::uint64_t hash_client(KeyBytes key, std::uint64_t seed) {
  net::store<std::uint16_t>(key.bytes.data() + key_addresses_size(family), 0);  // the source port
  return hash_key<family>(key, seed);
}

// The packets from `first` on that are of the same pool and family; answers where that ends. What the next stages touch
// for them is on its way from memory then.
template <Family family>
std::size_t hash_run(const PipelineParts& parts, Burst& burst, std::size_t first) {
  const SnapshotPool* pool = burst.pool[first];
  ServiceId service = no_service;
  // Of the pool, at hand for as many in a row as are the pool's.
  const RowTable::View rows = pool->rows.view();
  const std::uint64_t seed = pool->seed;
  const bool by_client = pool->affinity == Affinity::client, tracked = pool->flow_table;
  const FlowTable& flows = parts.flows.table;
  const std::size_t size = burst.size;
  std::size_t i = first;
  for (; i < size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    if (burst.pool[i] != pool || burst.parsed[i].family != family) break;
    const std::uint64_t hash = hash_key<family>(burst.key[i], seed);
    burst.hash[i] = hash;
    burst.row[i] = rows.of(by_client ? hash_client<family>(burst.key[i], seed) : hash);
    rte_prefetch0(burst.row[i]);
    if (tracked) {
      flows.prefetch(hash);
      // A SYN is always a new decision, even on a known tuple.
      burst.may_be_known |= (is_syn(burst.parsed[i]) ? 0U : 1U) << i;
    }
    if (burst.service[i] != service) {
      service = burst.service[i];
      rte_prefetch0(&parts.counters.service(service));
    }
  }
  return i;
}

}  // namespace

void hash_flows(const PipelineParts& parts, Burst& burst) {
  burst.may_be_known = 0;
  for (std::size_t i = 0; i < burst.size;) {
    if (burst.verdict[i] != Verdict::forward) {
      ++i;
      continue;
    }
    i = burst.parsed[i].family == Family::ipv4 ? hash_run<Family::ipv4>(parts, burst, i)
                                               : hash_run<Family::ipv6>(parts, burst, i);
  }
}

}  // namespace guideway::stages
