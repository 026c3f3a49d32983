// Flows: everybody's connections through one pool, from change to change, by one rule.
// What: one unit of flows a row, each on a backend, at a director, perhaps in that director's flow table. At a change
//       each flow's next packet goes to its director, which knows it or sends it along the hops of its row; a flow is
//       lost when no backend on that way knows it, or when one that does not answer stands before.
// Why:  shares instead of single flows: only the fleet's changes are drawn, so a difference of a few flows in a million
//       is seen.
// How:  a packet that was not lost teaches a table only where the rule has one hop; a SYN always does. Two directors
//       share the flows half and half; at each change a tenth of them lands on the other one (ECMP), and the second
//       director acts on every change one change late.
// Not:  a table that is full or restarts, packets in flight, retries.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tables/simulation/hop_rules.h"

namespace guideway {

struct FlowSetting {
  bool flow_table = false;
  std::uint8_t directors = 1;  // 1 or 2
};

inline constexpr double flow_life_steps = 20;  // on average; its client opens the next one at once
inline constexpr double ecmp_reshuffle =
    0.1;  // share of a director's flows that land on the other at a change

// Of one change. Flows on a backend that is gone or stopped end with it and do not cross.
struct Crossing {
  double crossed = 0;  // flows that lived through it or were lost, in rows' worth
  double lost = 0;
};

class Flows {
 public:
  Flows(FlowSetting setting, std::uint32_t hops, std::span<const RowHops> rows);

  // Plays a change: `now` is what the first director does from here on, `late` what the second does.
  Crossing cross(std::span<const RowHops> now, std::span<const RowHops> late, const Fleet& fleet);

 private:
  static constexpr double negligible = 1e-7;
  struct Share {
    BackendNumber backend;
    std::uint8_t director;
    std::uint8_t known;  // bit d: in the flow table of director d
    float flows;
  };
  static_assert(sizeof(Share) == 8, "a million of them are walked at each change");
  struct RowView {
    std::array<const RowHops*, 2> hops;  // by director
    const Fleet& fleet;
  };

  void cross_row(std::span<const Share> shares, const RowView& row, Crossing& out);
  [[nodiscard]] bool reached(const Share& share, const RowView& row) const;
  [[nodiscard]] BackendNumber opens_on(std::uint8_t director, const RowView& row) const;
  [[nodiscard]] std::uint8_t known_by(std::uint8_t director) const {
    return setting_.flow_table ? static_cast<std::uint8_t>(1U << director) : std::uint8_t{0};
  }
  void keep(std::size_t row_begin, Share share);

  FlowSetting setting_;
  std::uint32_t hops_;
  std::vector<Share> shares_, next_;    // row after row
  std::vector<std::uint32_t> row_end_;  // [rows]
};

}  // namespace guideway
