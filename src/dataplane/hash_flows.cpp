#define XXH_INLINE_ALL
#include <xxhash.h>

#include "dataplane/stages.h"
#include "net/byte_order.h"

namespace guideway::stages {
namespace {

// The sizes are constants where XXH3 is inlined, so that only its branch for them remains.
std::uint64_t hash_key(const KeyBytes& key, Family family, std::uint64_t seed) {
  return family == Family::ipv4 ? XXH3_64bits_withSeed(key.bytes.data(), 13, seed)
                                : XXH3_64bits_withSeed(key.bytes.data(), 37, seed);
}

std::uint64_t hash_client(KeyBytes key, Family family, std::uint64_t seed) {
  net::store<std::uint16_t>(key.bytes.data() + (family == Family::ipv4 ? 8 : 32), 0);
  return hash_key(key, family, seed);
}

}  // namespace

void hash_flows(Burst& burst) {
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    const SnapshotPool& pool = *burst.pool[i];
    const Family family = burst.parsed[i].family;
    const std::uint64_t hash = hash_key(burst.key[i], family, pool.seed);
    const std::uint64_t row_hash =
        pool.affinity == Affinity::flow ? hash : hash_client(burst.key[i], family, pool.seed);
    burst.hash[i] = hash;
    burst.row[i] = &pool.rows[row_hash % pool.rows.size()];
  }
}

}  // namespace guideway::stages
