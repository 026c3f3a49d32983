// Row table: the rows of one pool as the workers read them.
// What: rows that are never written again, shared with whoever made them; which row a hash belongs to.
// Why:  a pool's rows are half a megabyte, which a change would copy once more on its way to the workers.
// Cost: reads like an array.
// Thread: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "guideway/rows.h"

namespace guideway {

class RowTable {
 public:
  using Shared = std::shared_ptr<const std::vector<Row>>;

  // What a worker keeps at hand while it goes through a burst.
  class View {
   public:
    View() = default;
    explicit View(std::span<const Row> rows)
        : rows_(rows.data()), size_(rows.size()), reciprocal_(rows.empty() ? 0 : ~std::uint64_t{0} / size_) {}

    [[nodiscard]] std::span<const Row> rows() const { return {rows_, size_}; }
    // Row hash % size, for any hash, where there is a row. A division would cost more than the hash itself.
    [[nodiscard]] const Row* of(std::uint64_t hash) const {
      // The quotient comes out right or one too small: the reciprocal is less than 1 below 2^64 / size.
      const auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(hash) * reciprocal_ >> 64);
      const std::uint64_t rest = hash - quotient * size_;
      return rows_ + (rest < size_ ? rest : rest - size_);
    }

   private:
    __extension__ using Wide = unsigned __int128;
    const Row* rows_ = nullptr;
    std::uint64_t size_ = 0, reciprocal_ = 0;
  };

  RowTable() = default;
  explicit RowTable(Shared rows) : rows_(std::move(rows)), view_(*rows_) {}
  explicit RowTable(std::vector<Row> rows)
      : RowTable(std::make_shared<const std::vector<Row>>(std::move(rows))) {}

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] std::size_t size() const { return view_.rows().size(); }
  [[nodiscard]] auto begin() const { return view_.rows().begin(); }
  [[nodiscard]] auto end() const { return view_.rows().end(); }
  [[nodiscard]] const Row& operator[](std::size_t row) const { return view_.rows()[row]; }

 private:
  Shared rows_;
  View view_;
};

}  // namespace guideway
