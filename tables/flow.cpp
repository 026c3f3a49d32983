#include "guideway/flow.h"

#include <algorithm>

#include "tables/xxh3.h"

namespace guideway {
namespace {

void put_be16(std::uint8_t* at, std::uint16_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}

}  // namespace

FlowKey flow_key(const FlowTuple& tuple) {
  const FlowKeyLayout layout = tuple.source.family == Family::ipv4 ? flow_key_ipv4 : flow_key_ipv6;
  FlowKey key;
  key.size = layout.size();
  std::copy_n(tuple.source.bytes.data(), layout.address_bytes, &key.bytes[layout.source()]);
  std::copy_n(tuple.destination.bytes.data(), layout.address_bytes, &key.bytes[layout.destination()]);
  put_be16(&key.bytes[layout.source_port()], tuple.source_port);
  put_be16(&key.bytes[layout.destination_port()], tuple.destination_port);
  key.bytes[layout.protocol()] = tuple.protocol;
  return key;
}

std::uint64_t flow_hash(const FlowKey& key, std::uint64_t seed) {
  return XXH3_64bits_withSeed(key.bytes.data(), key.size, seed);
}

std::uint64_t flow_hash(const FlowTuple& tuple, std::uint64_t seed) {
  return flow_hash(flow_key(tuple), seed);
}

std::uint64_t row_hash(const FlowTuple& tuple, std::uint64_t seed, Affinity affinity) {
  if (affinity == Affinity::flow) return flow_hash(tuple, seed);
  FlowTuple client = tuple;
  client.source_port = 0;
  return flow_hash(client, seed);
}

}  // namespace guideway
