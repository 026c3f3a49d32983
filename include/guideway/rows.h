// Rows: the hops of every row (routing contract 1, items 5, 6 and 9).
// What: turns (seating, states, health) into up to three hops a row, and into the digests that directors
//       compare.
// Cost: control plane only; 8 bytes a row, read by the workers as they are.
// Not:  who holds a seat (placement.h).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "guideway/placement.h"

namespace guideway {

struct Row {
  // In order; no_member behind the last.
  std::array<MemberIndex, 3> hop{no_member, no_member, no_member};
  // 1: hop[0] takes new flows. 0: nobody does; SYN and UDP are dropped, other TCP goes to the hops there are.
  std::uint16_t takes_new = 0;
  // In one comparison: changes walk through all rows of a pool.
  friend constexpr bool operator==(const Row& a, const Row& b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  }
};
static_assert(sizeof(Row) == 8, "a cache line holds eight rows");

struct MemberStatus {
  BackendState state = BackendState::active;
  Health health = Health::up;  // unknown is to be resolved by the caller (health.initial)
  friend bool operator==(const MemberStatus&, const MemberStatus&) = default;
};

enum class NoneHealthy : std::uint8_t { all, drop };

struct HopRules {
  std::uint32_t hops = 3;  // 1..3
  double panic = 0;        // 0..1; read in billionths, so that 0.55 of 100 is 55 exactly
  NoneHealthy none_healthy = NoneHealthy::all;
  friend bool operator==(const HopRules&, const HopRules&) = default;
};

// Which members take new flows, the whole pool's health considered (item 5). status[i] is of members[i].
[[nodiscard]] std::vector<bool> takes_new_flows(std::span<const Member> members,
                                                std::span<const MemberStatus> status, const HopRules& rules);

// status[i] belongs to seating.members[i]. The seating is one that check_seating accepts.
[[nodiscard]] std::vector<Row> build_rows(const Seating& seating, std::span<const MemberStatus> status,
                                          const HopRules& rules);

// The same rows as build_rows(seating, after, rules), made from the rows for `before` by touching only rows
// that can have changed (a drain or a health change). Answers with those that have, in ascending order.
std::vector<std::uint32_t> update_rows(std::vector<Row>& rows, const Seating& seating,
                                       std::span<const MemberStatus> before,
                                       std::span<const MemberStatus> after, const HopRules& rules);

// XXH3 with seed 0 over the rows as triples of XXH3(name, 0), absent = 0 (item 9).
[[nodiscard]] std::uint64_t rows_digest(std::span<const Row> rows, std::span<const Member> members);

// The rows digest with every backend up: equal where site and history are, whatever a director's health view.
[[nodiscard]] std::uint64_t site_digest(const Seating& seating, std::span<const BackendState> states,
                                        const HopRules& rules);

}  // namespace guideway
