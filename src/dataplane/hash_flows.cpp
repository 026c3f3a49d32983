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

// What a pool gives to its packets, at hand for as many in a row as are the pool's.
class PoolRows {
 public:
  explicit PoolRows(const SnapshotPool& pool)
      : rows_(pool.rows.data()),
        count_(pool.rows.size()),
        reciprocal_(~std::uint64_t{0} / count_),
        seed_(pool.seed),
        by_client_(pool.affinity == Affinity::client),
        tracked_(pool.flow_table) {}

  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] bool by_client() const { return by_client_; }
  [[nodiscard]] bool tracked() const { return tracked_; }
  // Row hash % count, for any hash: a division costs more than all else that is done here.
  [[nodiscard]] const Row* of(std::uint64_t hash) const {
    // The quotient comes out right or one too small: the reciprocal is less than 1 below 2^64 / count.
    const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(hash) * reciprocal_ >> 64);
    const std::uint64_t rest = hash - quotient * count_;
    return rows_ + (rest < count_ ? rest : rest - count_);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  const Row* rows_;
  std::uint64_t count_, reciprocal_, seed_;
  bool by_client_, tracked_;
};

// The packets from `first` on that are of the same pool and family; answers where that ends. What the next stages touch
// for them is on its way from memory then.
template <Family family>
std::size_t hash_run(const PipelineParts& parts, Burst& burst, std::size_t first) {
  const SnapshotPool* pool = burst.pool[first];
  ServiceId service = no_service;
  const PoolRows rows(*pool);
  const FlowTable& flows = parts.flows.table;
  const std::size_t size = burst.size;
  std::size_t i = first;
  for (; i < size; ++i) {
    if (burst.verdict[i] != Verdict::forward) continue;
    if (burst.pool[i] != pool || burst.parsed[i].family != family) break;
    const std::uint64_t hash = hash_key<family>(burst.key[i], rows.seed());
    burst.hash[i] = hash;
    burst.row[i] = rows.of(rows.by_client() ? hash_client<family>(burst.key[i], rows.seed()) : hash);
    rte_prefetch0(burst.row[i]);
    if (rows.tracked()) {
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
