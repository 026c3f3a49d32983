// Counted rows: all rows of a pool for one status of its members, and what a plan asks of all of them at once.
// Why:  a drain changes a tenth of a pool's rows or less; who remembers which, and how many rows each member has, does
//       not go through 65,537 of them to compare and to count.
// Cost: 8 bytes a row, 8 bytes a member, 4 bytes a row that changed.
// Thread: any; never written after it was made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "guideway/rows.h"

namespace guideway {

class CountedRows {
 public:
  using Shared = std::shared_ptr<const CountedRows>;

  // The rows of a seating, status and rules, from nothing.
  [[nodiscard]] static Shared built(const Seating& seating, std::span<const MemberStatus> status,
                                    const HopRules& rules);
  // The same, made from those of the same seating and rules at another status.
  [[nodiscard]] static Shared made_from(const Shared& other, const Seating& seating,
                                        std::span<const MemberStatus> other_status,
                                        std::span<const MemberStatus> status, const HopRules& rules);

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  // Rows that each member holds (its seats).
  [[nodiscard]] const std::vector<std::uint32_t>& seats() const { return *seats_; }
  // Rows whose new flows each member takes; behind the last member, rows where nobody does.
  [[nodiscard]] const std::vector<std::uint32_t>& firsts() const { return firsts_; }
  [[nodiscard]] bool anybody_takes_new() const { return firsts_.back() < rows_.size(); }

  // The rows in which two of them differ, in ascending order, where one was made from the other.
  [[nodiscard]] static std::optional<std::span<const std::uint32_t>> differing(const Shared& a,
                                                                               const Shared& b);

 private:
  CountedRows() = default;
  void count(const Row& row, std::uint32_t by);  // by: 1, or ~0 to take one off

  std::vector<Row> rows_;
  std::shared_ptr<const std::vector<std::uint32_t>> seats_;  // shared by those of one seating
  std::vector<std::uint32_t> firsts_;
  std::weak_ptr<const CountedRows> origin_;
  std::vector<std::uint32_t> changed_;  // since the origin
};

}  // namespace guideway
