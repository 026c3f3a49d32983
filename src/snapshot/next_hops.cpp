#include "snapshot/next_hops.h"

namespace guideway {

NextHops::NextHops() : cells_(std::make_unique<std::atomic<std::uint64_t>[]>(capacity)) {}

std::optional<NextHopIndex> NextHops::index_of(const IpAddress& address) {
  const std::lock_guard lock(mutex_);
  if (auto found = indices_.find(address); found != indices_.end()) return found->second;
  if (indices_.size() == capacity) return std::nullopt;
  const auto index = static_cast<NextHopIndex>(indices_.size());
  indices_.emplace(address, index);
  return index;
}

std::uint64_t NextHops::pack(NextHop next_hop) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 6; ++i) word |= std::uint64_t{next_hop.mac[i]} << (8 * i);
  return word | std::uint64_t{next_hop.port} << 48 |
         std::uint64_t{static_cast<std::uint8_t>(next_hop.state)} << 56 |
         std::uint64_t{next_hop.behind_router} << 63;
}

NextHop NextHops::unpack(std::uint64_t word) {
  NextHop next_hop;
  for (std::size_t i = 0; i < 6; ++i) next_hop.mac[i] = static_cast<std::uint8_t>(word >> (8 * i));
  next_hop.port = port_of(word);
  next_hop.state = state_of(word);
  next_hop.behind_router = behind_router(word);
  return next_hop;
}

}  // namespace guideway
