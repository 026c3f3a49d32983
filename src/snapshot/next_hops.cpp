#include "snapshot/next_hops.h"

#include <algorithm>
#include <utility>

namespace guideway {

NextHops::NextHops() : book_(std::make_shared<Book>()) {
  book_->cells = std::make_unique<std::atomic<std::uint64_t>[]>(capacity);
  cells_ = book_->cells.get();
}

std::optional<NextHopIndex> NextHops::Book::hold(const IpAddress& address) {
  const auto [holding, is_new] = held.try_emplace(address);
  if (!is_new) {
    ++holding->second.holders;
    return holding->second.index;
  }
  try {
    if (!free.empty()) {
      holding->second = {free.back(), 1};
      free.pop_back();
      at[holding->second.index] = holding;
    } else if (at.size() < capacity) {
      if (free.capacity() <= at.size()) free.reserve(std::min(2 * at.size() + 64, capacity));
      at.push_back(holding);
      holding->second = {static_cast<NextHopIndex>(at.size() - 1), 1};
    } else {
      held.erase(holding);
      return std::nullopt;
    }
  } catch (...) {
    held.erase(holding);
    throw;
  }
  return holding->second.index;
}

void NextHops::Book::let_go(NextHopIndex index) noexcept {
  const auto holding = at[index];
  if (--holding->second.holders != 0) return;
  cells[index].store(0, std::memory_order_release);
  held.erase(holding);
  free.push_back(index);
}

std::optional<NextHops::Lease> NextHops::hold(std::span<const IpAddress> addresses) {
  Lease out;
  out.cells_.reserve(addresses.size());
  out.book_ = book_;
  const std::lock_guard lock(book_->mutex);  // let go before `out` may have to take it
  for (const IpAddress& address : addresses) {
    const auto index = book_->hold(address);
    if (!index) return std::nullopt;
    out.cells_.push_back(*index);
  }
  return out;
}

std::optional<NextHopIndex> NextHops::index_of(const IpAddress& address) {
  const std::lock_guard lock(book_->mutex);
  return book_->hold(address);
}

NextHops::Lease::Lease(Lease&& other) noexcept
    : book_(std::move(other.book_)), cells_(std::exchange(other.cells_, {})) {}

NextHops::Lease& NextHops::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  book_ = std::move(other.book_);
  cells_ = std::exchange(other.cells_, {});
  return *this;
}

void NextHops::Lease::let_go() noexcept {
  if (book_ == nullptr) return;
  const std::lock_guard lock(book_->mutex);
  for (const NextHopIndex cell : cells_) book_->let_go(cell);
  cells_.clear();
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
