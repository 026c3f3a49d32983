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

// hash % count, for any hash: a division costs more than all else that is done here, so a pool's reciprocal serves for
// as many packets in a row as are the pool's.
class RowIndex {
 public:
  void set(std::uint64_t count) {
    count_ = count;
    reciprocal_ = ~std::uint64_t{0} / count;
  }
  [[nodiscard]] std::uint64_t of(std::uint64_t hash) const {
    // The quotient comes out right or one too small: the reciprocal is less than 1 below 2^64 / count.
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(hash) * reciprocal_ >> 64);
    const std::uint64_t rest = hash - quotient * count_;
    return rest < count_ ? rest : rest - count_;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t count_ = 0, reciprocal_ = 0;
};

}  // namespace

void hash_flows(Burst& burst) {
  const SnapshotPool* last = nullptr;
  RowIndex row_index;
  for (std::size_t i = 0; i < burst.size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    const SnapshotPool& pool = *burst.pool[i];
    if (&pool != last) {
      last = &pool;
      row_index.set(pool.rows.size());
    }
    const Family family = burst.parsed[i].family;
    const std::uint64_t hash = hash_key(burst.key[i], family, pool.seed);
    const std::uint64_t row_hash =
        pool.affinity == Affinity::flow ? hash : hash_client(burst.key[i], family, pool.seed);
    burst.hash[i] = hash;
    burst.row[i] = &pool.rows[row_index.of(row_hash)];
  }
}

}  // namespace guideway::stages
