#include "tables/simulation/flows.h"

#include <algorithm>

namespace guideway {

Flows::Flows(FlowSetting setting, std::uint32_t hops, std::span<const RowHops> rows)
    : setting_(setting), hops_(hops) {
  for (const RowHops& row : rows) {
    for (std::uint8_t director = 0; director < setting_.directors; ++director) {
      shares_.push_back({row[0], director, known_by(director), 1.0F / setting_.directors});
    }
    row_end_.push_back(static_cast<std::uint32_t>(shares_.size()));
  }
}

Crossing Flows::cross(std::span<const RowHops> now, std::span<const RowHops> late, const Fleet& fleet) {
  Crossing out;
  next_.clear();
  std::uint32_t begin = 0;
  for (std::size_t row = 0; row < row_end_.size(); ++row) {
    const std::uint32_t end = row_end_[row];
    cross_row({shares_.data() + begin, shares_.data() + end}, {{&now[row], &late[row]}, fleet}, out);
    begin = end;
    row_end_[row] = static_cast<std::uint32_t>(next_.size());
  }
  std::swap(shares_, next_);
  return out;
}

void Flows::cross_row(std::span<const Share> shares, const RowView& row, Crossing& out) {
  const std::size_t row_begin = next_.size();
  const double moves = setting_.directors == 1 ? 0 : ecmp_reshuffle;
  std::array<double, 2> opened{};
  for (const Share& share : shares) {
    for (std::uint8_t director = 0; director < setting_.directors; ++director) {
      const double flows = share.flows * (director == share.director ? 1 - moves : moves);
      Share here{share.backend, director, share.known, 0};
      const bool lives = row.fleet.answers(share.backend);
      const bool kept = lives && reached(here, row);
      if (lives) out.crossed += flows;
      if (lives && !kept) out.lost += flows;
      const double staying = kept ? flows * (1 - 1 / flow_life_steps) : 0;
      if (staying < negligible) {
        opened[director] += flows;
        continue;
      }
      opened[director] += flows - staying;
      here.flows = static_cast<float>(staying);
      if (hops_ == 1) here.known |= known_by(director);
      keep(row_begin, here);
    }
  }
  for (std::uint8_t director = 0; director < setting_.directors; ++director) {
    keep(row_begin,
         {opens_on(director, row), director, known_by(director), static_cast<float>(opened[director])});
  }
}

bool Flows::reached(const Share& share, const RowView& row) const {
  if ((share.known & known_by(share.director)) != 0) return true;
  const RowHops& hops = *row.hops[share.director];
  for (std::uint32_t i = 0; i < hops_ && hops[i] != nobody; ++i) {
    if (hops[i] == share.backend) return true;
    if (!row.fleet.answers(hops[i])) return false;
  }
  return false;
}

// Where the late director's choice does not answer, the client tries until that director has learned.
BackendNumber Flows::opens_on(std::uint8_t director, const RowView& row) const {
  const BackendNumber first = (*row.hops[director])[0];
  return row.fleet.answers(first) ? first : (*row.hops[0])[0];
}

void Flows::keep(std::size_t row_begin, Share share) {
  const auto same = [&](const Share& other) {
    return other.backend == share.backend && other.director == share.director && other.known == share.known;
  };
  const auto found = std::find_if(next_.begin() + static_cast<std::ptrdiff_t>(row_begin), next_.end(), same);
  if (found == next_.end()) {
    next_.push_back(share);
  } else {
    found->flows += share.flows;
  }
}

}  // namespace guideway
