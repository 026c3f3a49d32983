// Placement: who holds which row of a pool's table (routing contract 1, items 3, 4 and 7).
// What: deals M rows (a prime) over weighted members, exactly by weight and without a needless move, and
//       ranks members for a row by integer weighted rendezvous.
// Why:  every director must compute the same rows, so dealing is a pure function: no clock, no libm, no map
//       order.
// Cost: control plane only; the data plane reads finished rows.
// Not:  health or drain of the rows to come; rows.h decides who stands in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "guideway/result.h"

namespace guideway {

// Index into the members of a seating, which stand in byte order of their names.
using MemberIndex = std::uint16_t;
inline constexpr MemberIndex no_member = 0xffff;
inline constexpr std::size_t members_max = 65535;
inline constexpr std::uint32_t weight_max = 65535;
inline constexpr std::uint32_t rows_min = 251, rows_max = 5000011, rows_default = 65537;

struct Member {
  std::string name;
  std::uint32_t weight = 100;  // 1..65535
  friend bool operator==(const Member&, const Member&) = default;
};

enum class BackendState : std::uint8_t { active, draining, disabled };
enum class Health : std::uint8_t { up, down, unknown };
enum class DealMode : std::uint8_t { stable, scratch };

// Who holds each seat and who served the row before (the former). Part of the journalled site.
struct Seating {
  std::uint64_t seed = 0;
  std::uint32_t row_count = rows_default;
  std::vector<Member> members;      // byte order of names, unique
  std::vector<MemberIndex> holder;  // [row_count]; no_member where there are no members
  std::vector<MemberIndex> former;  // [row_count]; no_member where there is none
  friend bool operator==(const Seating&, const Seating&) = default;
};

[[nodiscard]] bool is_prime(std::uint32_t n);
[[nodiscard]] Seating empty_seating(std::uint64_t seed, std::uint32_t row_count);

// Refuses a seating that breaks its own rules (members unsorted or bad, arrays of another length, an index
// beyond the members, a seat without a holder): what a loader asks before it trusts one from a file.
[[nodiscard]] Result<void> check_seating(const Seating& seating);

// The seating after the members changed. `states_before` holds the state of each of `before.members` (same
// order); `members` may come in any order. The same set of (name, weight) is no change: `before` comes back
// as it was. Refused: duplicate or bad names, weights out of range, too many members, a row count that is no
// prime in range, a `before` that check_seating refuses.
[[nodiscard]] Result<Seating> deal(const Seating& before, std::span<const BackendState> states_before,
                                   std::vector<Member> members, DealMode mode = DealMode::stable);

// Members of a seating from best to worst for one row (item 4).
[[nodiscard]] std::vector<MemberIndex> ranking(const Seating& seating, std::uint32_t row);

}  // namespace guideway
