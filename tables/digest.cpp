// Digest: one number for all hops of a table (contract 1, item 9).
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <new>

#include "guideway/rows.h"
#include "tables/xxh3.h"

namespace guideway {
namespace {

constexpr std::size_t hops_a_row = 3;
using RowImage = std::array<std::uint64_t, hops_a_row>;  // as hashed: little-endian

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using StreamState = std::unique_ptr<XXH3_state_t, FreeState>;

std::uint64_t little_endian(std::uint64_t value) {
  return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
}

}  // namespace

std::uint64_t rows_digest(std::span<const Row> rows, std::span<const Member> members) {
  std::vector<std::uint64_t> name_hash(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) name_hash[i] = little_endian(xxh3(members[i].name, 0));

  const StreamState state(XXH3_createState());
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset_withSeed(state.get(), 0);
  std::array<RowImage, 256> block;  // so that no copy of the whole table is made
  for (std::size_t begin = 0; begin < rows.size(); begin += block.size()) {
    const std::size_t count = std::min(block.size(), rows.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < hops_a_row; ++k) {
        const MemberIndex hop = rows[begin + i].hop[k];
        block[i][k] = hop == no_member ? 0 : name_hash[hop];
      }
    }
    XXH3_64bits_update(state.get(), block.data(), count * sizeof(RowImage));
  }
  return XXH3_64bits_digest(state.get());
}

std::uint64_t site_digest(const Seating& seating, std::span<const BackendState> states,
                          const HopRules& rules) {
  std::vector<MemberStatus> all_up(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) all_up[i] = {.state = states[i], .health = Health::up};
  return rows_digest(build_rows(seating, all_up, rules), seating.members);
}

}  // namespace guideway
